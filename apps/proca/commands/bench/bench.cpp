// `proca bench`: every measurement, one after the other, in one table.

#include "commands/bench/bench.h"

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "core/files/scratch_folder.h"
#include "demo/demo_data.h"

namespace proca::app {
namespace {

using Json = nlohmann::ordered_json;

// The data of the demo, which the program can draw itself.
Measurement decode_demo(const BenchOptions& options) {
  const ScratchFolder scratch(std::filesystem::temp_directory_path() / "proca-bench");
  demo::write_demo_data(scratch.path() / "demo",
                        {.image_size = 64, .source_per_class = 1, .target_per_class = 10});
  return measure_decode({(scratch.path() / "demo" / "photo").string()}, options.image_size,
                        options.repeats, options.compute);
}

Measurement small_step(const BenchOptions& options) {
  const ScratchFolder scratch(std::filesystem::temp_directory_path() / "proca-bench");
  return measure_step({.out = (scratch.path() / "step").string(),
                       .backbone = options.backbone,
                       .image_size = options.image_size,
                       .classes = 20,
                       .memory_classes = 10,
                       .images = options.num_images(),
                       .epochs = 5,
                       .compute = options.compute});
}

std::string table(const std::vector<Json>& results) {
  const auto& first = results.front();
  std::string text = fmt::format(
      "{}, {} threads, {}; proca {}, LibTorch {}\n\n{:<10} {:>10}  {:<19} {:>8} {:>9} {:>10} "
      "{:>10}\n",
      first.at("device_name").get<std::string>(), first.at("threads").get<int64_t>(),
      first.at("precision").get<std::string>(), first.at("program").get<std::string>(),
      first.at("libtorch").get<std::string>(), "", "images/s", "from .. to", "data s", "compute s",
      "memory MB", "device MB");
  for (const auto& result : results) {
    const auto number = [&](const char* name) { return result.at(name).get<double>(); };
    const auto& device_memory = result.at("peak_device_memory_mb");
    text += fmt::format(
        "{:<10} {:>10.1f}  {:<19} {:>8.3f} {:>9.3f} {:>10.0f} {:>10}\n",
        result.at("bench").get<std::string>(), number("images_per_s"),
        fmt::format("{:.1f} .. {:.1f}", number("images_per_s_min"), number("images_per_s_max")),
        number("data_s"), number("compute_s"), number("peak_memory_mb"),
        device_memory.is_null() ? "-" : fmt::format("{:.0f}", device_memory.get<double>()));
  }
  return text;
}

void run(const BenchOptions& options) {
  quiet_unless_asked();
  std::vector<Json> results;
  for (auto* measure : {decode_demo, measure_load, measure_iteration, measure_training,
                        measure_inference, small_step}) {
    results.push_back(to_json(measure(options), options.compute));
  }
  std::cout << (options.json ? Json(results).dump() + "\n" : table(results));
}

}  // namespace

Command bench_command() {
  return {"bench", "measurements; without a further word: all of them, in brief",
          [](OptionSet& set) {
            const auto options = std::make_shared<BenchOptions>();
            options->backbone = "resnet-small";
            options->image_size = 32;
            options->bind(set);
            return [options] { run(*options); };
          }};
}

}  // namespace proca::app

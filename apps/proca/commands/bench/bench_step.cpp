// One adaptation step on made-up images, with a memory that already holds the
// prototypes of so many classes: what of a step's time and memory grows with the past?

#include <memory>

#include <fmt/format.h>

#include "commands/bench/bench.h"
#include "commands/commands.h"
#include "core/stopwatch.h"
#include "proca/core/error.h"
#include "proca/engine/adapter.h"

namespace proca::app {

Measurement measure_step(const StepBenchOptions& options) {
  const std::filesystem::path out = options.out;
  std::error_code ignored;
  std::filesystem::create_directories(out, ignored);
  if (state::StateDirectory::exists(out / "state")) {
    throw InputError(
        fmt::format("{}: holds an earlier measurement; use a new folder", options.out));
  }
  write_state({.backbone = options.backbone,
               .image_size = options.image_size,
               .classes = options.classes,
               .memory_classes = options.memory_classes,
               .source_images = 2 * options.classes},
              out);
  engine::AdaptOptions adapt;
  adapt.method.set_name("proca");
  adapt.epochs = options.epochs;
  adapt.compute = options.compute;
  Stopwatch watch;
  engine::Adapter adapter(adapt, out / "state");
  const double load_s = watch.seconds();
  const auto step = [&](const std::string& purpose) {
    const Stopwatch step_watch;
    adapter.adapt(std::make_shared<NoiseImages>(options.images, options.image_size, 0, purpose));
    return step_watch.seconds();
  };
  const double first_s = step("target");
  // Again with the source's centres known: what every further step costs.
  const double further_s = step("next");

  Measurement measurement{.bench = "step",
                          .images = options.images,
                          .seconds = {further_s},
                          .data_s = {},
                          .about = {{"backbone", options.backbone},
                                    {"image_size", options.image_size},
                                    {"classes", options.classes},
                                    {"epochs", options.epochs}}};
  Measurement epochs;
  add_epochs(epochs, out / "state", "adapt_epoch", options.epochs);
  double data_s = 0;
  for (const double epoch_s : epochs.data_s) data_s += epoch_s;
  measurement.data_s = {data_s};
  measurement.more = {{"classes_in_memory", options.memory_classes},
                      {"load_s", load_s},
                      {"first_step_s", first_s},
                      {"further_step_s", further_s}};
  return measurement;
}

Command bench_step_command() {
  return {"bench step", "an adaptation step with so many classes in memory", [](OptionSet& set) {
            const auto options = std::make_shared<StepBenchOptions>();
            set.bind("out", options->out, "new folder for the made-up state", "DIR");
            set.require();
            set.bind("backbone", options->backbone, "network to adapt", "BACKBONE");
            set.bind("image-size", options->image_size, "pixels, square", 8, 4096);
            set.bind("classes", options->classes, "of the source", 2, 100'000);
            set.bind("memory-classes", options->memory_classes,
                     "classes whose prototypes are in memory already", 0, 100'000);
            set.bind("images", options->images, "of the step", 1, 1'000'000);
            set.bind("epochs", options->epochs, "of the step", 1, 1'000'000);
            set.bind("json", options->json, "print JSON on one line");
            options->compute.bind(set);
            return [options] {
              quiet_unless_asked();
              compute::set_up_libtorch(options->compute);
              print(measure_step(*options), options->compute, options->json);
            };
          }};
}

}  // namespace proca::app

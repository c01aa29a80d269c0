#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/run_report.h"
#include "commands/write_report.h"
#include "core/progress.h"
#include "core/stopwatch.h"
#include "demo/demo_data.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;

struct DemoCommand {
  std::string out = "proca-demo";
  int64_t seed = 0;
  compute::ComputeOptions compute;
};

// A run of the preset `demo` with one method. The source model is trained once and shared.
std::vector<experiments::SeedResult> run_method(const DemoCommand& options,
                                                const std::string& method) {
  const fs::path out = options.out;
  const auto preset = protocol::find_preset("demo");
  experiments::RunOptions run;
  OptionSet set;
  run.bind(set);
  run.preset = preset.name;
  run.data_root = (out / "images").string();
  run.source = "sketch";
  run.target = "photo";
  run.source_state = (out / "source").string();
  run.seeds = {options.seed};
  run.adapt.compute = options.compute;
  run.adapt.method.set_name(method);
  run.apply(preset, set);

  auto training = run.pretrain;
  training.source = (out / "images" / "sketch").string();
  training.seed = options.seed;
  engine::train_source(training, run.source_state);

  const auto results = experiments::run_protocol(run, preset, out / method);
  const auto text = results_text(fmt::format("demo sketch -> photo, {}", method), results);
  write_results(out / method, results_json(run, results), text);
  std::cout << text << "\n" << std::flush;
  return results;
}

void run_demo(const DemoCommand& options) {
  const Stopwatch watch;
  compute::set_up_libtorch(options.compute);
  const fs::path out = options.out;
  const auto images = out / "images";
  std::error_code ignored;  // A folder that cannot be read cannot be written to either.
  if (!fs::exists(images, ignored)) {
    demo::write_demo_data(images, {.seed = static_cast<uint64_t>(options.seed)});
  }
  const auto floor = run_method(options, "source-only").front().metrics;
  const auto proca = run_method(options, "proca").front().metrics;
  const auto census = run_method(options, "census").front().metrics;
  std::cout << fmt::format(
      "Final accuracy on photos: {:.1f} % as trained on sketches, {:.1f} % with ProCA,\n"
      "{:.1f} % with Census, the default ({:+.1f} points), {} in all\n",
      floor.final_accuracy * 100, proca.final_accuracy * 100, census.final_accuracy * 100,
      (census.final_accuracy - floor.final_accuracy) * 100, format_duration(watch.seconds()));
  std::cout << fmt::format(
      "images {0}/images, source model {0}/source, adapted model {0}/census/seed-{1},\n"
      "decisions of each step {0}/census/seed-{1}/steps, results {0}/*/results.json\n",
      options.out, options.seed);
  const auto page = write_report(out, {out / "source-only", out / "proca", out / "census"},
                                 "The demo: from sketches to photos");
  std::cout << fmt::format("report {}\n", page.string());
}

}  // namespace

Command demo_command() {
  return {"demo", "draw a small data set, train on sketches, adapt to photos", [](OptionSet& set) {
            const auto options = std::make_shared<DemoCommand>();
            set.bind("out", options->out, "folder for everything it makes", "DIR");
            set.bind("seed", options->seed, "of every random choice", 0);
            options->compute.bind(set);
            return [options] { run_demo(*options); };
          }};
}

}  // namespace proca::app

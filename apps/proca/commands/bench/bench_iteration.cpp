// Adaptation iterations of ProCA: a real step on made-up images, prototypes in memory from
// the start, timed by the training loop itself. What surrounds the loop in a step
// (detection, pseudo-labels, centres) happens before and after the epochs that count.

#include <memory>

#include "commands/bench/bench.h"
#include "commands/commands.h"
#include "core/files/scratch_folder.h"
#include "proca/engine/adapter.h"

namespace proca::app {

Measurement measure_iteration(const BenchOptions& options) {
  const ScratchFolder scratch(std::filesystem::temp_directory_path() / "proca-bench");
  // As many classes as images in a batch: their prototypes then are ten full batches.
  const int64_t classes = options.batch_size;
  write_state({.backbone = options.backbone,
               .image_size = options.image_size,
               .classes = classes,
               .memory_classes = classes,
               .source_images = options.num_images()},
              scratch.path());
  engine::AdaptOptions adapt;
  adapt.method.set_name("proca");
  adapt.epochs = kWarmUps + options.repeats;
  adapt.batch_size = options.batch_size;
  adapt.checkpoint_every = 1'000'000;
  adapt.compute = options.compute;
  for (const auto* passes :
       {"pseudo-labels-every", "centres-every", "capture-first", "capture-every"}) {
    adapt.method_defaults[passes] = {"1000000"};
  }
  engine::Adapter adapter(adapt, scratch.path() / "state");
  adapter.adapt(
      std::make_shared<NoiseImages>(options.num_images(), options.image_size, 0, "target"));
  auto measurement = measurement_of("iteration", 3 * options.num_images(), options);
  measurement.about["backbone"] = options.backbone;
  add_epochs(measurement, scratch.path() / "state", "adapt_epoch", options.repeats);
  return measurement;
}

Command bench_iteration_command() {
  return network_bench("iteration",
                       "adaptation iterations of ProCA, source + target + replay: images/s",
                       measure_iteration);
}

}  // namespace proca::app

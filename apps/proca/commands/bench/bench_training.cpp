// Source training: the real one, on made-up images.

#include "commands/bench/bench.h"
#include "commands/commands.h"
#include "core/files/scratch_folder.h"
#include "data/source/packed_file.h"
#include "proca/engine/source_trainer.h"

namespace proca::app {

Measurement measure_training(const BenchOptions& options) {
  constexpr int64_t kClasses = 2;  // so that the smallest batch has them all
  const ScratchFolder scratch(std::filesystem::temp_directory_path() / "proca-bench");
  engine::SourceTrainingOptions training;
  training.source = (scratch.path() / "source.pack").string();
  training.backbone = options.backbone;
  training.image_size = options.image_size;
  training.batch_size = options.batch_size;
  training.epochs = kWarmUps + options.repeats;
  training.lr = training.head_lr = 1e-3;  // Noise cannot be learnt, but the loss must not explode.
  training.compute = options.compute;
  const int64_t stored_size = training.resolved_resize();
  data::write_packed_file(training.source,
                          NoiseImages(options.num_images(), stored_size, kClasses, "source"),
                          {.image_size = stored_size});
  engine::train_source(training, scratch.path() / "state");
  auto measurement = measurement_of("training", options.num_images(), options);
  measurement.about["backbone"] = options.backbone;
  add_epochs(measurement, scratch.path() / "state", "epoch", options.repeats);
  return measurement;
}

Command bench_training_command() {
  return network_bench("training", "iterations of source training: images/s", measure_training);
}

}  // namespace proca::app

#include "engine/source/training_record.h"

#include <fmt/format.h>

#include "config/toml.h"
#include "engine/run_identity.h"
#include "state/state_files.h"

namespace proca::engine {

SourceTrainingOptions training_options_of(const state::StateDirectory& state) {
  SourceTrainingOptions training;
  OptionSet options;
  training.bind(options);
  const auto origin = (state.folder() / state::kConfigFile).string();
  for (const auto& entry : parse_toml(state.read_text(state::kConfigFile), origin)) {
    // An option of another version is none that decides what images look like.
    if (options.find(entry.key) != nullptr) options.assign(entry.key, entry.values);
  }
  // `config.toml` leaves "stored" out, and earlier versions knew nothing else.
  training.orientation = state.manifest().model.preprocessing.resize.orientation;
  return training;
}

std::string hash_training_images(const SourceTrainingSet& images, int64_t threads) {
  const auto* holdout = images.holdout();
  return fmt::format("{:016x} {:016x}", hash_pixels(images.training(), threads),
                     holdout != nullptr ? hash_pixels(*holdout, threads) : 0);
}

std::string hash_training_images(const SourceTrainingOptions& options, int64_t threads) {
  SourceTrainingSet images(options);
  data::Preprocessing preprocessing;
  preprocessing.image_size = options.image_size;
  preprocessing.resize.orientation = options.orientation;
  images.load(preprocessing);
  return hash_training_images(images, threads);
}

}  // namespace proca::engine

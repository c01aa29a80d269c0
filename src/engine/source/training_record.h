#pragma once

#include <string>

#include "engine/run_identity.h"
#include "engine/source_setup.h"
#include "proca/engine/source_trainer.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

// What a state knows of its source training: `config.toml` has the options, and as notes
// `describe_images` of the listing (`kImagesNote`) and this.
inline constexpr const char* kPixelsNote = "pixels";  ///< `hash_training_images`

/// The options of the training. Those that decide nothing have their defaults.
SourceTrainingOptions training_options_of(const state::StateDirectory& state);

/// Hashes of the pixels of the images to train on, and of those held out, as training sees them.
std::string hash_training_images(const SourceTrainingSet& images, int64_t threads);
/// The same, of the images of `options.source`, which are decoded for it.
std::string hash_training_images(const SourceTrainingOptions& options, int64_t threads);

}  // namespace proca::engine

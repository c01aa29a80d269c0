#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "proca/data/image_store.h"
#include "proca/data/preprocessing.h"
#include "proca/engine/source_trainer.h"
#include "proca/models/classifier_network.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

/// The labelled images of source training, and those that are held out.
class SourceTrainingSet {
 public:
  /// Opens and checks the list of images. Throws `InputError` for fewer than two classes.
  explicit SourceTrainingSet(const SourceTrainingOptions& options);

  const data::ImageListing& listing() const { return source_->listing(); }
  /// Puts the paths, the names of the classes and the image size into the manifest of the state
  /// in `folder`.
  void describe(state::Manifest& manifest, const std::filesystem::path& folder) const;

  /// Decodes the images, once. The functions below need them.
  void load(const data::Preprocessing& preprocessing);
  /// At the size that crops are cut from.
  const data::ImageStore& training() const { return *training_; }
  /// As in evaluation; null if none are held out.
  const data::ImageStore* holdout() const { return holdout_ ? &*holdout_ : nullptr; }

 private:
  SourceTrainingOptions options_;
  std::shared_ptr<data::ImageSource> source_;
  std::optional<data::ImageStore> training_, holdout_;
};

/// Logs what the training will do, and warns where it can hardly succeed.
void announce_training(const SourceTrainingOptions& options, int64_t num_images);

/// An untrained network, or one with the weights of `options.weights`, on the CPU. Completes
/// `model`. `script` becomes the content of a script backbone's file, which the state keeps.
models::ClassifierNetwork build_source_network(const SourceTrainingOptions& options,
                                               state::ModelDescription& model, std::string& script);

}  // namespace proca::engine

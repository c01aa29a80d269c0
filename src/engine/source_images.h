#pragma once

#include <memory>
#include <optional>

#include <torch/types.h>

#include "proca/data/load_options.h"
#include "proca/engine/inference.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

/// The labelled source images a state was trained on, opened where the state says
/// they are, with what adaptation asks about them.
class SourceImages {
 public:
  /// Throws `InputError` naming state and path when they are no longer there.
  SourceImages(const state::StateDirectory& state, const data::LoadOptions& load,
               const InferenceOptions& inference);

  /// Its images need not be kept on the device any more.
  ~SourceImages();
  SourceImages(const SourceImages&) = delete;
  SourceImages& operator=(const SourceImages&) = delete;

  /// As in evaluation; loaded when they are first asked for.
  const data::ImageStore& store() const;
  /// At another size, for training; loaded by the first call.
  const data::ImageStore& training_store(const data::ResizeOptions& resize) const;
  /// Share of each class, float [K].
  const torch::Tensor& prior() const { return prior_; }
  /// Tells these images from others, by name, label and content.
  const std::string& description() const;
  /// A hash of the pixels as in evaluation.
  uint64_t content_hash() const;
  /// Mean feature per class, float [K, D] on the device: a pass over all images.
  torch::Tensor centres(const models::ClassifierNetwork& network) const;
  /// One batch after the other, as in evaluation.
  void visit(const methods::StepContext::BatchFunction& function) const;

 private:
  data::Preprocessing preprocessing_;
  InferenceOptions inference_;
  std::shared_ptr<const data::ImageSource> source_;
  data::LoadOptions load_;
  torch::Tensor prior_;
  // Made when they are needed.
  mutable std::string description_;
  mutable std::optional<uint64_t> content_hash_;
  mutable std::optional<data::ImageStore> store_, training_store_;
};

}  // namespace proca::engine

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torch/types.h>

#include "methods/parts/prototype_feed.h"
#include "methods/parts/prototype_options.h"

namespace proca::methods {

/// The part of ProCA that other methods can use: detects a step's classes, labels
/// its images, keeps prototypes of them, and computes the two losses on replayed
/// prototypes. Its owner forwards the hooks of `Method` to the functions of the
/// same names, in the same order.
class PrototypeReplay {
 public:
  PrototypeReplay(models::ClassifierNetwork network, const PrototypeOptions& options);

  void begin_step(const StepContext& context);
  void begin_epoch(const StepContext& context);
  void end_epoch(const StepContext& context);

  /// Pseudo-labels of target images on the network's device, int64 [n].
  torch::Tensor pseudo_labels(const torch::Tensor& target_ids) const;

  /// The prototypes to replay in an iteration (`PrototypeFeed::prepare`), and what they are
  /// compared with; nothing before the first capture.
  ///
  /// | name               | dtype | shape        |                                  |
  /// |--------------------|-------|--------------|----------------------------------|
  /// | replay.centres     | float | [K, D]       | missing without contrastive loss |
  /// | replay.negatives   | int64 | [n, .]       | missing for all other classes    |
  models::NamedTensors prepare(const StepContext& context);
  /// Adds `alignment` (L_con) and `distillation` (L_dis), weighted, for a batch with these
  /// inputs. `output` is the network's for the replayed images.
  void add_losses(std::vector<LossTerm>& terms, const AdaptationBatch& batch,
                  const models::NetworkOutput& output) const;

  adaptation::PrototypeMemory& memory() { return feed_.memory(); }
  const StepDecisions* decisions() const { return decisions_ ? &*decisions_ : nullptr; }

  models::NamedTensors save() const;
  void load(const models::NamedTensors& tensors);

 private:
  torch::Device device() const { return network_->head()->weight.device(); }
  void label_images(const Predictions& predictions);
  void capture(const StepContext& context);
  void refresh_centres(const StepContext& context);
  torch::Tensor draw_negatives(const torch::Tensor& labels, const StepContext& context) const;

  PrototypeOptions options_;
  models::ClassifierNetwork network_;
  PrototypeFeed feed_;
  std::optional<StepDecisions> decisions_;
  torch::Tensor labels_;   // int64 [N] on the network's device: the pseudo-labels
  torch::Tensor centres_;  // float [K, D] there too; undefined if not needed
  int64_t captures_ = 0;   // in this step
};

}  // namespace proca::methods

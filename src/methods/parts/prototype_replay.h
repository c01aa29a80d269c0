#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torch/types.h>

#include "adaptation/prototype_mirror.h"
#include "methods/parts/prototype_options.h"
#include "proca/methods/method.h"

namespace proca::methods {

/// The part of ProCA that other methods can borrow: finds a step's classes, labels
/// its images, keeps prototypes of them, and gives the two losses on replayed
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

  /// The prototypes of an iteration, and what they are compared with.
  struct Replay {
    torch::Tensor images;       ///< float [n, 3, H, W]
    torch::Tensor labels;       ///< int64 [n]
    torch::Tensor soft_labels;  ///< float [n, K]
    torch::Tensor centres;      ///< float [K, D]; undefined if none are wanted
    torch::Tensor negatives;    ///< int64 [n, .]; undefined: all other classes
    bool empty() const { return !labels.defined(); }

    /// For `Method::prepare`: always so many, undefined where there is nothing.
    static constexpr size_t kNumTensors = 5;
    std::vector<torch::Tensor> tensors() const;
    /// From what begins with what `tensors` gave.
    static Replay from(const std::vector<torch::Tensor>& tensors);
  };
  Replay replay(const StepContext& context);
  /// `alignment` (L_con) and `distillation` (L_dis), weighted; none for an empty replay.
  std::vector<LossTerm> losses_on(const Replay& replay, const models::NetworkOutput& output) const;

  adaptation::PrototypeMemory& memory() { return memory_; }
  const StepDecisions* decisions() const { return decisions_ ? &*decisions_ : nullptr; }

  std::map<std::string, torch::Tensor> save() const;
  void load(const std::map<std::string, torch::Tensor>& tensors);

 private:
  torch::Device device() const { return network_->head()->weight.device(); }
  void check_budget(const StepContext& context) const;
  void label_images(const Predictions& predictions);
  void capture(const StepContext& context);
  void refresh_centres(const StepContext& context);
  torch::Tensor draw_negatives(const torch::Tensor& labels, const StepContext& context) const;
  adaptation::ClassPrototypes choose_prototypes(int64_t label, const Predictions& predictions,
                                                const StepContext& context) const;

  PrototypeOptions options_;
  models::ClassifierNetwork network_;
  adaptation::PrototypeMemory memory_;
  adaptation::PrototypeMirror mirror_;  // of the memory, on the network's device
  std::optional<StepDecisions> decisions_;
  torch::Tensor labels_;   // int64 [N] on the network's device: the pseudo-labels
  torch::Tensor centres_;  // float [K, D] there too; undefined if not needed
  int64_t captures_ = 0;   // in this step
  // The order of replay: a function of seed, step, epoch and memory, made when it is needed.
  std::vector<std::vector<int64_t>> order_;
  std::vector<int64_t> order_is_for_;
};

}  // namespace proca::methods

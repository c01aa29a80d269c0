#pragma once

#include <optional>

#include <torch/types.h>

#include "proca/adaptation/step_health.h"
#include "proca/methods/method.h"
#include "proca/models/named_tensors.h"

namespace proca::training {

/// Examines a step before and after its training, without any true label.
///
/// Of a method that measures the trust in its labels itself, that is taken; of others the
/// engine detects classes by `cluster-mass`, and judges the method's labels, if it has any, by
/// the evidence for them.
class StepCheckup {
 public:
  /// After `Method::begin_step`. Runs both models over the target images.
  void examine(const methods::StepContext& context, const methods::Method& method);
  /// After training.
  void conclude(const methods::StepContext& context);

  /// Nothing before `examine`.
  const std::optional<adaptation::StepHealth>& health() const { return health_; }
  /// Whether a step of this health is trained on. Throws `InputError` with `kStop` if it is
  /// not good.
  bool accepts(methods::OnDoubt on_doubt, int64_t step) const;

  /// For checkpoints.
  models::NamedTensors save() const;
  void load(const models::NamedTensors& tensors);

 private:
  std::optional<adaptation::StepHealth> health_;
  torch::Tensor before_;  // int64 [N]: the network's classes before the step
};

}  // namespace proca::training

#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "adaptation/class_gaussians.h"
#include "methods/parts/adam.h"
#include "methods/parts/cida_network.h"
#include "proca/methods/method.h"
#include "proca/models/named_tensors.h"

namespace proca::methods {

struct CidaAdaptationOptions {
  double adam_lr = 1e-4;
  double confident = 0.5;          ///< share of a step's images that follow their guide
  double guide_temperature = 0.1;  ///< tau
};

/// CIDA's second half: trains E, D' and the guides on target images, and on draws
/// from the source's Gaussians against forgetting. Everything else is frozen.
///
/// The objectives have optimisers of their own and are stepped one after the other,
/// each computed on what the one before has left. What comes back are their values,
/// with weight 0: for the engine to watch, not to minimise.
///
/// Target images go by their numbers: with the layers in front of E frozen, their
/// latent features are the same all step long and are computed once. The images of
/// a batch are never looked at.
class CidaAdaptation {
 public:
  /// The network must outlive it.
  CidaAdaptation(CidaNetwork& network, const CidaAdaptationOptions& options);

  /// The step has other images, and new optimisers.
  void begin_step();
  /// Starts the guides at E(mean of the class) if that was not done yet, and picks
  /// the images that are nearest to one.
  void begin_epoch(const adaptation::ClassGaussians& gaussians, const StepContext& context);
  /// One iteration of E and D' alone, on L_r1 and L_r2.
  std::vector<LossTerm> warm_up(const torch::Tensor& target_ids,
                                const adaptation::ClassGaussians& gaussians,
                                const StepContext& context);
  /// One iteration of L_a1, L_a2, L_c, L_r1 and L_r2. The two in the middle are
  /// missing where no image of the batch is among the nearest.
  std::vector<LossTerm> adapt(const torch::Tensor& target_ids,
                              const adaptation::ClassGaussians& gaussians,
                              const StepContext& context);

  models::NamedTensors save() const;
  void load(const models::NamedTensors& state);

 private:
  const torch::Tensor& target_latents(const StepContext& context);
  torch::Tensor guides_of(const adaptation::ClassGaussians& gaussians);
  LossTerm minimise(size_t objective, const torch::Tensor& loss);

  CidaAdaptationOptions options_;
  CidaNetwork& network_;
  std::vector<Adam> adams_;  // by objective
  bool guides_ready_ = false;
  torch::Tensor confident_;       // bool [N] on the CPU, of this epoch
  torch::Tensor target_latents_;  // float [N, 256], made when it is needed
};

}  // namespace proca::methods

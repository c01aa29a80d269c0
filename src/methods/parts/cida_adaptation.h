#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

#include "adaptation/class_gaussians.h"
#include "methods/parts/cida_network.h"
#include "proca/methods/method.h"

namespace proca::methods {

struct CidaAdaptationOptions {
  double adam_lr = 1e-4;
  double confident = 0.5;          ///< share of a step's images that follow their guide
  double guide_temperature = 0.1;  ///< tau
};

/// CIDA's second half: trains E, D' and the guides on target images, and on samples
/// of the source's Gaussians against forgetting. Everything else is frozen.
///
/// Each objective is a phase with an optimiser of its own, and is computed on the weights
/// that the phase before has left.
///
/// Target images are used by id: with the layers in front of E frozen, their latent
/// features stay the same for the whole step and are computed once. The images of a batch
/// are not used.
class CidaAdaptation {
 public:
  /// The network must outlive it.
  CidaAdaptation(CidaNetwork& network, const CidaAdaptationOptions& options);

  /// For `Method::optimizers`, one per objective:
  ///
  /// | name              | objective                                     | parameters    |
  /// |-------------------|-----------------------------------------------|---------------|
  /// | guides-apart      | L_a1: guides away from each other             | E, D', guides |
  /// | guide-attraction  | L_a2: confident images to their nearest guide | E, D', guides |
  /// | confident-classes | L_c: classes of confident images              | E, D'         |
  /// | proxy-classes     | L_r1: classes of samples of the Gaussians     | E, D'         |
  /// | reconstruction    | L_r2: of these samples and of target images   | E, D'         |
  std::vector<OptimizerSpec> optimizers() const;
  /// Names of the objectives: the last two in the warm-up of E and D', else all.
  static std::vector<std::string> phases(bool is_warm_up);

  /// The step has other images.
  void begin_step();
  /// Initialises the guides to E(mean of the class) if that was not done yet, and selects
  /// the images that are nearest to one.
  void begin_epoch(const adaptation::ClassGaussians& gaussians, const StepContext& context);
  /// Samples of the Gaussians, and latent features of the batch: those of confident images
  /// only if there are any.
  models::NamedTensors prepare(const torch::Tensor& target_ids,
                               const adaptation::ClassGaussians& gaussians,
                               const StepContext& context);
  /// The term of `phase`; none if it is about confident images and the batch has none.
  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                       const adaptation::ClassGaussians& gaussians,
                                       const std::string& phase);

  models::NamedTensors save() const;
  void load(const models::NamedTensors& state);

 private:
  const torch::Tensor& target_latents(const StepContext& context);
  torch::Tensor guides_of(const adaptation::ClassGaussians& gaussians);
  torch::Tensor decoded(const torch::Tensor& latents);
  torch::Tensor reconstruction_error(const torch::Tensor& latents);

  CidaAdaptationOptions options_;
  CidaNetwork& network_;
  bool guides_ready_ = false;
  torch::Tensor confident_;       // bool [N] on the CPU, of this epoch
  torch::Tensor target_latents_;  // float [N, 256], computed on demand
};

}  // namespace proca::methods

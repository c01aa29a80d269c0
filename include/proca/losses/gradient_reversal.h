#pragma once

#include <torch/types.h>

namespace proca::losses {

/// The identity in the forward pass; in the backward pass the gradient times -`coefficient`:
///
///     forward   y = x
///     backward  dL/dx = -coefficient * dL/dy
///
/// Between features and a domain discriminator it lets one backward pass train both
/// against each other: the discriminator learns to tell the domains apart, the layers
/// before it learn to make them indistinguishable (Ganin and Lempitsky, ICML 2015). With
/// the coefficient 0 only the discriminator learns.
///
/// | argument    | dtype | shape |                                              |
/// |-------------|-------|-------|----------------------------------------------|
/// | x           | float | any   |                                              |
/// | coefficient | float | []    | on the device of `x`; a CUDA graph reads it  |
/// |             |       |       | anew in each replay                          |
///
/// Example:
/// ```
/// const auto scores = discriminator->forward(reverse_gradient(features, torch::tensor(0.5F)));
/// ```
torch::Tensor reverse_gradient(const torch::Tensor& x, const torch::Tensor& coefficient);

/// Coefficient of the reversal over training, from 0, steeply at first, to `high`:
///
///     high * (2 / (1 + exp(-steepness * progress)) - 1)
///
/// so that the features follow the discriminator only once it has learnt something.
/// `progress` is not cut off at 1: some methods count it in units that training
/// exceeds. With the steepness 10 of Ganin and Lempitsky: 0 at 0, 0.462 at 0.1,
/// 0.987 at 0.5, 0.9999 at 1, times `high`.
double reversal_ramp(double progress, double steepness = 10, double high = 1);

}  // namespace proca::losses

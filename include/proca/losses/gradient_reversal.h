#pragma once

#include <torch/types.h>

namespace proca::losses {

/// `x` itself on the way forward; on the way back the gradient times -`coefficient`:
///
///     forward   y = x
///     backward  dL/dx = -coefficient * dL/dy
///
/// Between features and a domain discriminator it lets one backward pass train both
/// against each other: the discriminator learns to tell the domains apart, what lies
/// before it learns that they cannot be told (Ganin and Lempitsky, ICML 2015). With
/// the coefficient 0 the discriminator learns alone.
///
/// | argument    | dtype | shape |                                     |
/// |-------------|-------|-------|-------------------------------------|
/// | x           | float | any   |                                     |
/// | coefficient | float |       | a scalar on the device of `x`, so that its value may |
/// |             |       |       | change where the computation is recorded and repeated |
///
/// Example:
/// ```
/// const auto scores = discriminator->forward(reverse_gradient(features, torch::tensor(0.5F)));
/// ```
torch::Tensor reverse_gradient(const torch::Tensor& x, const torch::Tensor& coefficient);

/// How strong the reversal is as training goes on: from 0, steeply at first, to `high`:
///
///     high * (2 / (1 + exp(-steepness * progress)) - 1)
///
/// so that the features follow the discriminator only when it has learnt something.
/// `progress` is not cut off at 1: some methods count it in units that training
/// exceeds. With the steepness 10 of Ganin and Lempitsky: 0 at 0, 0.462 at 0.1,
/// 0.987 at 0.5, 0.9999 at 1, times `high`.
double reversal_ramp(double progress, double steepness = 10, double high = 1);

}  // namespace proca::losses

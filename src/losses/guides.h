#pragma once

#include <torch/types.h>

namespace proca::losses {

/// The losses of CIDA on guides, one trainable centre per class in the space that
/// target features are mapped to. The paper's equations were not available; these follow
/// their description in prose (docs/methods/cida.md).

/// Cosine of every feature and every guide, in [-1, 1]: float [N, C]. A row of zero
/// length has the cosine 0 to everything.
///
/// | argument | dtype | shape  |
/// |----------|-------|--------|
/// | features | float | [N, D] |
/// | guides   | float | [C, D] |
torch::Tensor guide_similarities(const torch::Tensor& features, const torch::Tensor& guides);

/// Drives the guides apart: L_a1,
///
///     mean_c  -log( e^(1 / t) / ( e^(1 / t) + sum_{c' != c} e^(cos(v_c, v_c') / t) ) )
///
/// with v the guides and t the temperature, which must be positive. A single guide
/// gives zero, since nothing competes.
torch::Tensor guide_separation_loss(const torch::Tensor& guides, double temperature);

/// Pulls each feature to its guide and away from the others: L_a2,
///
///     mean_i  -log softmax_c( cos(v_i, v_c) / t )[k_i]
///
/// Gradients reach features and guides.
///
/// | argument | dtype | shape  |                               |
/// |----------|-------|--------|-------------------------------|
/// | features | float | [N, D] | v_i                           |
/// | labels   | int64 | [N]    | k_i, every value in [0, C)    |
/// | guides   | float | [C, D] | v_c                           |
///
/// No features (N = 0) give zero.
torch::Tensor guide_attraction_loss(const torch::Tensor& features, const torch::Tensor& labels,
                                    const torch::Tensor& guides, double temperature);

/// Makes classes compact and separable under one Gaussian each:
///
///     mean_i  -log softmax_c( -1/2 mean_d (u_id - m_cd)^2 / s_cd )[y_i]
///
/// The mean over the dimensions, not their sum, keeps the softmax from being decided
/// by rounding when there are hundreds of them. Gradients reach `latents` only;
/// the Gaussians are constants.
///
/// | argument  | dtype | shape  |                                                    |
/// |-----------|-------|--------|----------------------------------------------------|
/// | latents   | float | [N, D] | u                                                  |
/// | labels    | int64 | [N]    | y, classes that are present                        |
/// | means     | float | [K, D] | m                                                  |
/// | variances | float | [K, D] | s, positive                                        |
/// | present   | bool  | [K]    | classes that take part; undefined: all of them     |
///
/// No latents (N = 0) give zero.
torch::Tensor gaussian_separation_loss(const torch::Tensor& latents, const torch::Tensor& labels,
                                       const torch::Tensor& means, const torch::Tensor& variances,
                                       const torch::Tensor& present = {});

}  // namespace proca::losses

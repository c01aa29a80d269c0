#pragma once

#include <cstdint>

#include <torch/types.h>

namespace proca::adaptation {

/// The mean feature of each class, float [K, D] on the device of `features`: the
/// source centres f_k of ProCA. Raw means, to be normalised where they are used.
/// A class without images has a zero row.
///
/// | argument | dtype | shape  |                       |
/// |----------|-------|--------|-----------------------|
/// | features | float | [N, D] |                       |
/// | labels   | int64 | [N]    | every value in [0, K) |
torch::Tensor class_centres(const torch::Tensor& features, const torch::Tensor& labels,
                            int64_t num_classes);

/// Share of each class among the images, float [K]; what detection calls the
/// source prior. All zero when there are none.
torch::Tensor class_prior(const torch::Tensor& labels, int64_t num_classes);

}  // namespace proca::adaptation

#pragma once

#include <string_view>

#include <torch/types.h>

namespace proca::adaptation {

/// A matrix with one row per image as contiguous doubles on the CPU, where all
/// decisions are made: they must not depend on the device. Throws `Error` naming
/// `what` and the image when a value is not a finite number.
torch::Tensor host_doubles(const torch::Tensor& rows, std::string_view what);

/// Rows of length 1; zero rows stay zero.
torch::Tensor unit_rows(const torch::Tensor& rows);

/// ||a - b||^2 of two vectors. The order of additions depends on `size` alone, so
/// that equal vectors give equal distances, which no BLAS promises.
double squared_distance(const double* a, const double* b, int64_t size);

}  // namespace proca::adaptation

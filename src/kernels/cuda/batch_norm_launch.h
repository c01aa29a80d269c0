#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "kernels/cuda/element_type.h"

// What batch_norm.cu offers to batch_norm.cpp. Neither LibTorch's headers nor CUDA's
// compiler see each other: together they take minutes.

namespace proca::kernels::cuda {

/// A batch may consist of so many groups at most.
constexpr int kMaxGroups = 8;

/// Activations are [pixels, channels], channels in multiples of this.
constexpr int kChannelMultiple = 8;

/// Where groups begin, and how their pixels are shared out to blocks.
struct Layout {
  int channels = 0;
  int num_groups = 0;
  int64_t first_pixel[kMaxGroups + 1] = {};  // of each group; then the number of all
  int first_chunk[kMaxGroups + 1] = {};      // likewise; a chunk is the work of one block
  int num_chunks() const { return first_chunk[num_groups]; }
};

/// Chooses the chunks for group sizes that are in `first_pixel` already.
void share_out(Layout& layout, int num_multiprocessors);

/// Floats that `partial` below must hold.
int64_t partial_size(const Layout& layout);

struct Forward {
  Layout layout;
  ElementType type = ElementType::kFloat;
  const void* values = nullptr;
  const void* residual = nullptr;  // null: none
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* running_mean = nullptr;
  float* running_var = nullptr;
  int64_t* num_batches_tracked = nullptr;
  float momentum = 0;
  float epsilon = 0;
  bool relu = false;
  void* output = nullptr;
  float* mean = nullptr;     // [groups, channels]
  float* inv_std = nullptr;  // [groups, channels]
  uint8_t* mask = nullptr;   // [pixels, channels / 8]; null: not wanted
  float* partial = nullptr;
  /// Of several ranks, [groups, 1 + 2 channels]: number of pixels, sums, sums of squares.
  double* totals = nullptr;
};
void launch_forward(const Forward& work, cudaStream_t stream);
/// The same in two parts: writes `totals`; then, when those of all ranks are in it, goes on.
void launch_totals(const Forward& work, cudaStream_t stream);
void launch_from_totals(const Forward& work, cudaStream_t stream);

struct Backward {
  Layout layout;
  ElementType type = ElementType::kFloat;
  const void* output_gradient = nullptr;
  const void* values = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  const uint8_t* mask = nullptr;  // null: the rectifier, if any, is found again from `values`
  bool relu = false;
  void* values_gradient = nullptr;
  void* residual_gradient = nullptr;  // null: not wanted
  float* weight_gradient = nullptr;   // [channels]
  float* bias_gradient = nullptr;     // [channels]
  float* partial = nullptr;
  float* coefficients = nullptr;  // [2, groups, channels], scratch
  /// Of several ranks, [groups, 2, channels]: sums of the gradient, and of its products with
  /// normalised values. Null: this process alone.
  double* totals = nullptr;
  const double* pixels = nullptr;  // [groups], of all ranks; with `totals`
};
void launch_backward(const Backward& work, cudaStream_t stream);
/// The same in two parts, as above; weight and bias get the gradients of this rank.
void launch_totals(const Backward& work, cudaStream_t stream);
void launch_from_totals(const Backward& work, cudaStream_t stream);

}  // namespace proca::kernels::cuda

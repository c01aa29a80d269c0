#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

// The interface between batch_norm.cpp and the .cu files. LibTorch's headers and CUDA's compiler
// do not see each other: together they take minutes.

namespace proca::kernels::cuda {

/// Groups in a batch at most.
constexpr int kMaxGroups = 8;

/// Activations are [pixels, channels], channels in multiples of this. A thread handles so many
/// neighbouring channels: 16 bytes of bfloat16.
constexpr int kUnit = 8;

/// Threads of a block.
constexpr int kThreads = 256;

/// Threads of a block along the channels: at most 32, and a divisor of channels / kUnit.
inline int block_width(int channels) {
  int width = 1;
  while (width < 32 && channels / kUnit % (2 * width) == 0) width *= 2;
  return width;
}

/// Of activations.
enum class ElementType { kFloat, kBFloat16 };

/// Where groups begin, and how their pixels are divided among blocks.
struct Layout {
  int channels = 0;
  int num_groups = 0;
  int64_t first_pixel[kMaxGroups + 1] = {};  // of each group; then the number of all
  int first_chunk[kMaxGroups + 1] = {};      // likewise; a chunk is the work of one block
  int num_chunks() const { return first_chunk[num_groups]; }
};

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
  float* partial = nullptr;  // [chunks, 2, channels], workspace
  /// With several ranks, [groups, 1 + 2 channels]: number of pixels, sums, sums of squares.
  double* totals = nullptr;
};
/// Sums up: writes statistics or, with several ranks, `totals` of this rank.
void launch_sums(const Forward& work, cudaStream_t stream);
/// Writes the output; with several ranks `totals` are those of all by now.
void launch_output(const Forward& work, cudaStream_t stream);

struct Backward {
  Layout layout;
  ElementType type = ElementType::kFloat;
  const void* output_gradient = nullptr;
  const void* values = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  const uint8_t* mask = nullptr;  // null: the sign of the output is recomputed from `values`
  bool relu = false;
  void* values_gradient = nullptr;
  void* residual_gradient = nullptr;  // null: not wanted
  float* weight_gradient = nullptr;   // [channels], of this rank
  float* bias_gradient = nullptr;     // [channels], of this rank
  float* partial = nullptr;           // [chunks, 2, channels], workspace
  float* coefficients = nullptr;      // [2, groups, channels], workspace
  /// With several ranks, [groups, 2, channels]: sums of the gradient, and of its products with
  /// normalised values.
  double* totals = nullptr;
  const double* pixels = nullptr;  // [groups], of all ranks; with `totals`
};
/// As above: gradients of weight and bias, and coefficients or `totals`.
void launch_sums(const Backward& work, cudaStream_t stream);
void launch_output(const Backward& work, cudaStream_t stream);

}  // namespace proca::kernels::cuda

#pragma once

// The inner loops of batch normalisation on a CPU, over dense activations whose channels
// are neighbours in memory.
//
// Activations are a flat array of `count` numbers, in lines of `width`: a whole number of pixels,
// so that few channels make long lines too. Numbers of channels, and sums over pixels, are
// repeated along a line. The last line may be shorter.
//
// Every number of a line is computed by itself, so results do not depend on the instruction set.

#include <cstdint>

namespace proca::kernels {

/// Adds up x - centre and its square over all lines.
struct MomentsLoop {
  const float* values = nullptr;
  int64_t count = 0;
  const float* centres = nullptr;  ///< a line; near the mean, so that no digits are lost
  int64_t width = 0;
  double* sums = nullptr;     ///< a line
  double* squares = nullptr;  ///< a line
};
void run(const MomentsLoop& loop);

/// y = ReLU(x * scale + shift + residual).
struct NormaliseLoop {
  const float* values = nullptr;
  const float* residuals = nullptr;  ///< null for none
  float* outputs = nullptr;
  int64_t count = 0;
  const float* scales = nullptr;  ///< a line
  const float* shifts = nullptr;  ///< a line
  int64_t width = 0;
  bool relu = false;
};
void run(const NormaliseLoop& loop);

/// How the backward pass knows what ReLU let pass.
enum class ReluMask {
  kNone,
  kRecomputed,  ///< x * scale + shift is positive
  kFromOutput,  ///< the output is positive
};

/// Adds up the gradient g before ReLU, and g * (x - mean), over all lines.
struct GradientSumsLoop {
  const float* gradients = nullptr;  ///< of the output
  const float* values = nullptr;
  int64_t count = 0;
  const float* means = nullptr;  ///< a line
  int64_t width = 0;
  ReluMask relu = ReluMask::kNone;
  const float* scales = nullptr;   ///< a line; kRecomputed
  const float* shifts = nullptr;   ///< a line; kRecomputed
  const float* outputs = nullptr;  ///< kFromOutput
  float* kept = nullptr;           ///< kFromOutput: where g is stored
  double* sums = nullptr;          ///< a line
  double* products = nullptr;      ///< a line
};
void run(const GradientSumsLoop& loop);

/// Gradient of x: scale * g + slope * (x - mean) + offset.
struct InputGradientLoop {
  const float* gradients = nullptr;  ///< of the output; before ReLU if `relu` is kNone
  const float* values = nullptr;
  float* input_gradients = nullptr;
  int64_t count = 0;
  const float* means = nullptr;    ///< a line
  const float* scales = nullptr;   ///< a line
  const float* slopes = nullptr;   ///< a line
  const float* offsets = nullptr;  ///< a line
  int64_t width = 0;
  ReluMask relu = ReluMask::kNone;  ///< or kRecomputed
  const float* shifts = nullptr;    ///< a line; kRecomputed
};
void run(const InputGradientLoop& loop);

}  // namespace proca::kernels

#pragma once

// The inner loops of Winograd's convolution on a CPU: 3 x 3 kernels, stride 1, one pixel of
// zero padding, activations whose channels are neighbours in memory.
//
// Four by four output pixels, a tile, depend on six by six input pixels. Lavin and Gray
// ("Fast Algorithms for Convolutional Neural Networks", CVPR 2016) write the tile as
//
//     Y = A' [ (G g G') * (B' d B) ] A
//
// with small constant matrices A, B, G, kernel g, pixels d and the element-wise product *. Over
// many channels and tiles, * is a product of matrices for each of the 36 positions of a
// transformed tile: 36 multiplications for 16 pixels instead of 144. Both gradients have the
// same form: that of the input is a convolution with rotated kernels, that of the kernels sums
// (B' d B) * (A dY A') over tiles.
//
// A tile's result depends on its own pixels only: not on other images, threads or their number.

#include <cstdint>

namespace proca::kernels {

/// Of a convolution; both numbers of channels are multiples of `WinogradShape::kVector`.
struct WinogradShape {
  static constexpr int64_t kVector = 16;
  static constexpr int64_t kTile = 4;        ///< output pixels in a row of a tile
  static constexpr int64_t kPositions = 36;  ///< of a transformed tile
  static constexpr int64_t kBlock = 12;      ///< tiles that are multiplied together

  int64_t images = 0, height = 0, width = 0;
  int64_t in_channels = 0, out_channels = 0;

  int64_t tile_rows() const { return (height + kTile - 1) / kTile; }
  int64_t tile_columns() const { return (width + kTile - 1) / kTile; }
  int64_t tiles() const { return images * tile_rows() * tile_columns(); }
  /// Numbers in transformed weights, and in sums of their gradient.
  int64_t weights() const { return kPositions * in_channels * out_channels; }
  /// Tiles whose transforms a core's cache holds.
  int64_t tiles_together() const;
};

/// What transformed weights are for.
enum class WinogradWay {
  kForward,   ///< [36, C, K]
  kBackward,  ///< of the input: kernels rotated by 180 degrees, [36, K, C]
};

/// G g G' of the kernels [first, last) of `weights`, [K, 3, 3, C] in memory; their number is a
/// multiple of `WinogradShape::kVector`.
struct TransformWeights {
  const float* weights = nullptr;
  int64_t in_channels = 0, out_channels = 0;
  int64_t first = 0, last = 0;
  WinogradWay way = WinogradWay::kForward;
  float* transformed = nullptr;
};

/// The tiles [first, last) of a convolution.
struct ConvolveTiles {
  WinogradShape shape;
  const float* input = nullptr;        ///< [N, H, W, C]
  const float* transformed = nullptr;  ///< weights, [36, C, K]
  int64_t first = 0, last = 0;
  const float* bias = nullptr;      ///< [K]; null for none
  const float* residual = nullptr;  ///< added, like `output`; null for none
  bool relu = false;
  float* output = nullptr;  ///< [N, H, W, K]
};

/// Adds what the tiles [first, last) contribute to the gradient of the transformed weights.
struct SumWeightGradient {
  WinogradShape shape;
  const float* input = nullptr;
  const float* output_gradient = nullptr;
  int64_t first = 0, last = 0;
  float* sums = nullptr;  ///< [36, C, K]
};

/// G' S G, the gradient of the kernels' input channels [first, last) from the sum S of `parts`
/// arrays of `shape.weights()` numbers that follow each other.
struct FinishWeightGradient {
  WinogradShape shape;
  const float* sums = nullptr;
  int64_t parts = 1;
  int64_t first = 0, last = 0;
  float* gradient = nullptr;  ///< [K, 3, 3, C]
};

/// The loops for one set of instructions.
struct WinogradLoops {
  void (*transform_weights)(const TransformWeights& loop);
  void (*convolve)(const ConvolveTiles& loop);
  void (*sum_weight_gradient)(const SumWeightGradient& loop);
  void (*finish_weight_gradient)(const FinishWeightGradient& loop);
};

/// Null where this processor does not have the instructions.
const WinogradLoops* winograd_loops_avx2();
const WinogradLoops* winograd_loops_avx512();

}  // namespace proca::kernels

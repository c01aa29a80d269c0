#pragma once

// Tiles of activations and their transforms (see winograd_loops.h).

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/winograd_loops.h"
#include "kernels/cpu/winograd_transforms.h"
#include "kernels/vector_lanes.h"

namespace proca::kernels {

constexpr int kSide = 6;  // of a transformed tile

// Where the pixels of a tile begin; those outside of the image are zeros.
template <int kPixels>
struct TilePixels {
  const float* at[kPixels * kPixels];
};

// The place of a tile among the images.
struct TilePlace {
  int64_t image, row, column;  // of its first pixel
};

[[gnu::always_inline]] inline TilePlace place_of(const WinogradShape& shape, int64_t tile) {
  const int64_t columns = shape.tile_columns(), rows = shape.tile_rows();
  return {tile / columns / rows, tile / columns % rows * WinogradShape::kTile,
          tile % columns * WinogradShape::kTile};
}

// `kPixels` by `kPixels` pixels that begin at `row` and `column`, possibly outside.
template <int kPixels>
[[gnu::always_inline]] inline TilePixels<kPixels> pixels_of(const WinogradShape& shape,
                                                            const float* images, int64_t channels,
                                                            int64_t image, int64_t row,
                                                            int64_t column, const float* zeros) {
  TilePixels<kPixels> pixels;
  for (int64_t i = 0; i < kPixels; ++i) {
    const int64_t y = row + i;
    const bool inside = y >= 0 && y < shape.height;
    const float* line = images + (image * shape.height + (inside ? y : 0)) * shape.width * channels;
    for (int64_t j = 0; j < kPixels; ++j) {
      const int64_t x = column + j;
      pixels.at[i * kPixels + j] =
          inside && x >= 0 && x < shape.width ? line + x * channels : zeros;
    }
  }
  return pixels;
}

// Transforms of up to `tiles` tiles, [36, tiles, channels]. Positions are padded:
// at multiples of a page they would be mapped to the same cache lines.
struct Transforms {
  float* numbers;
  int64_t channels, stride;

  Transforms(float* begin, int64_t tiles, int64_t num_channels)
      : numbers(begin), channels(num_channels), stride(distance(tiles, num_channels)) {}

  static int64_t distance(int64_t tiles, int64_t num_channels) {
    return tiles * num_channels + WinogradShape::kVector;
  }
  static int64_t size(int64_t tiles, int64_t num_channels) {
    return WinogradShape::kPositions * distance(tiles, num_channels);
  }

  [[gnu::always_inline]] float* at(int64_t position, int64_t tile) const {
    return numbers + position * stride + tile * channels;
  }
};

// M d M' for the pixels d of a tile and a matrix M.
template <typename Lanes, typename Matrix, int kPixels>
[[gnu::always_inline]] inline void transform_tile(const TilePixels<kPixels>& pixels,
                                                  const Transforms& transforms, int64_t to) {
  using V = typename Lanes::Value;
  for (int64_t c = 0; c < transforms.channels; c += Lanes::kLanes) {
    V lines[kSide * kPixels];
#pragma GCC unroll 6
    for (int j = 0; j < kPixels; ++j) {
      V column[kPixels];
#pragma GCC unroll 6
      for (int i = 0; i < kPixels; ++i) column[i] = load<Lanes>(pixels.at[i * kPixels + j] + c);
      Matrix::apply(column, 1, lines + j, kPixels);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      V line[kSide];
      Matrix::apply(lines + i * kPixels, 1, line, 1);
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j) place<Lanes>(transforms.at(i * kSide + j, to) + c) = line[j];
    }
  }
}

// B' d B of a tile of the input.
template <typename Lanes>
[[gnu::always_inline]] inline void transform_input_tile(const WinogradShape& shape,
                                                        const float* input, int64_t tile,
                                                        const float* zeros,
                                                        const Transforms& transforms, int64_t to) {
  const auto [image, row, column] = place_of(shape, tile);
  transform_tile<Lanes, InputMatrix>(
      pixels_of<kSide>(shape, input, shape.in_channels, image, row - 1, column - 1, zeros),
      transforms, to);
}

// A dY A' of a tile of the output's gradient.
template <typename Lanes>
[[gnu::always_inline]] inline void transform_gradient_tile(const WinogradShape& shape,
                                                           const float* gradient, int64_t tile,
                                                           const float* zeros,
                                                           const Transforms& transforms,
                                                           int64_t to) {
  const auto [image, row, column] = place_of(shape, tile);
  transform_tile<Lanes, GradientMatrix>(
      pixels_of<WinogradShape::kTile>(shape, gradient, shape.out_channels, image, row, column,
                                      zeros),
      transforms, to);
}

// A' M A of a tile, then bias, residual and ReLU.
template <typename Lanes>
[[gnu::always_inline]] inline void transform_output_tile(const ConvolveTiles& loop, int64_t tile,
                                                         const Transforms& transforms,
                                                         int64_t from) {
  using V = typename Lanes::Value;
  constexpr int kTile = WinogradShape::kTile;
  const auto& shape = loop.shape;
  const auto [image, row, column] = place_of(shape, tile);
  const int64_t rows = std::min<int64_t>(kTile, shape.height - row);
  const int64_t columns = std::min<int64_t>(kTile, shape.width - column);
  const int64_t channels = shape.out_channels;
  const int64_t first = ((image * shape.height + row) * shape.width + column) * channels;
  for (int64_t k = 0; k < channels; k += Lanes::kLanes) {
    V lines[kTile * kSide];
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      V sums[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) sums[i] = load<Lanes>(transforms.at(i * kSide + j, from) + k);
      OutputMatrix::apply(sums, 1, lines + j, kSide);
    }
    V bias{};
    if (loop.bias != nullptr) bias = load<Lanes>(loop.bias + k);
    for (int64_t i = 0; i < rows; ++i) {
      V line[kTile];
      OutputMatrix::apply(lines + i * kSide, 1, line, 1);
#pragma GCC unroll 4
      for (int j = 0; j < kTile; ++j) {
        if (j >= columns) break;
        const int64_t at = first + (i * shape.width + j) * channels + k;
        V y = line[j] + bias;
        if (loop.residual != nullptr) y += load<Lanes>(loop.residual + at);
        // NaN stays NaN.
        if (loop.relu) y = y < V{} ? V{} : y;
        place<Lanes>(loop.output + at) = y;
      }
    }
  }
}

}  // namespace proca::kernels

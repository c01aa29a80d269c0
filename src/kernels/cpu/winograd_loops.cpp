#include "kernels/cpu/winograd_loops.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/cpu/winograd_tiles.h"
#include "kernels/cpu/winograd_transforms.h"
#include "kernels/vector_lanes.h"

// Each loop is written once for vectors of either length, and compiled for both.

namespace proca::kernels {

// Two transforms of a tile, one before and one after the product, and room beside them for
// the weights of a position.
int64_t WinogradShape::tiles_together() const {
  constexpr int64_t kCacheNumbers = (int64_t{1} << 19) / static_cast<int64_t>(sizeof(float));
  const int64_t fitting = kCacheNumbers / (kPositions * (in_channels + out_channels));
  return std::max(2 * kBlock, fitting / kBlock * kBlock);
}

#if defined(__x86_64__)

namespace {

constexpr int kKernel = 3;  // pixels in a row of a kernel

// `kRows` times `kColumns` vectors of sums fit into the registers.
template <typename Lanes>
struct Block;
template <>
struct Block<Eight> {
  static constexpr int kRows = 6, kColumns = 2, kGradientRows = 4;
};
template <>
struct Block<Sixteen> {
  static constexpr int kRows = 12, kColumns = 2, kGradientRows = 8;
};
static_assert(WinogradShape::kBlock % Block<Eight>::kRows == 0 &&
              WinogradShape::kBlock % Block<Sixteen>::kRows == 0);

// Workspace of a thread, kept between calls.
class Scratch {
 public:
  float* take(int64_t count) {
    constexpr size_t kAlignment = 64;
    if (static_cast<size_t>(count) + kAlignment > numbers_.size()) {
      numbers_.assign(static_cast<size_t>(count) + kAlignment, 0.0F);
    }
    void* begin = numbers_.data();
    size_t space = numbers_.size() * sizeof(float);
    return static_cast<float*>(
        std::align(kAlignment, static_cast<size_t>(count) * sizeof(float), begin, space));
  }

 private:
  std::vector<float> numbers_;
};

float* scratch(int64_t count) {
  static thread_local Scratch memory;
  return memory.take(count);
}

// Workspace of a convolution: a pixel of zeros, transforms of input and output.
struct Room {
  explicit Room(const WinogradShape& shape)
      : together(shape.tiles_together()),
        zeros_size(std::max(shape.in_channels, shape.out_channels)),
        zeros(scratch(zeros_size + Transforms::size(together, shape.in_channels) +
                      Transforms::size(together, shape.out_channels))),
        input(zeros + zeros_size, together, shape.in_channels),
        output(input.numbers + Transforms::size(together, shape.in_channels), together,
               shape.out_channels) {
    std::fill(zeros, zeros + zeros_size, 0.0F);
  }

  int64_t together, zeros_size;
  float* zeros;
  Transforms input, output;
};

// A matrix in memory: from row to row and from column to column.
struct Left {
  const float* numbers;
  int64_t row, column;
};
enum class Then { kStore, kAdd };

// kRows of `left` times kColumns vectors of `right` [depth, width].
template <typename Lanes, int kRows, int kColumns, Then then>
[[gnu::always_inline]] inline void multiply(const Left& left, int64_t depth, const float* right,
                                            int64_t width, float* result) {
  using V = typename Lanes::Value;
  V sums[kRows][kColumns] = {};
  for (int64_t n = 0; n < depth; ++n) {
    V factors[kColumns];
#pragma GCC unroll 2
    for (int j = 0; j < kColumns; ++j) {
      factors[j] = load<Lanes>(right + n * width + j * Lanes::kLanes);
    }
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const float factor = left.numbers[i * left.row + n * left.column];
#pragma GCC unroll 2
      for (int j = 0; j < kColumns; ++j) sums[i][j] += factor * factors[j];
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kColumns; ++j) {
      float* at = result + i * width + j * Lanes::kLanes;
      if constexpr (then == Then::kAdd) sums[i][j] += load<Lanes>(at);
      place<Lanes>(at) = sums[i][j];
    }
  }
}

template <typename Lanes, int kColumns>
[[gnu::always_inline]] inline void multiply_columns(const Transforms& input, int64_t tiles,
                                                    const Transforms& output, int64_t position,
                                                    const float* weights, int64_t column) {
  for (int64_t tile = 0; tile < tiles; tile += Block<Lanes>::kRows) {
    multiply<Lanes, Block<Lanes>::kRows, kColumns, Then::kStore>(
        {input.at(position, tile), /*row=*/input.channels, /*column=*/1}, input.channels,
        weights + column, output.channels, output.at(position, tile) + column);
  }
}

template <typename Lanes>
struct Convolve {
  const ConvolveTiles& loop;

  [[gnu::always_inline]] void operator()() const {
    const auto& shape = loop.shape;
    const Room room(shape);
    const auto &input = room.input, &output = room.output;
    for (int64_t begin = loop.first; begin < loop.last; begin += room.together) {
      const int64_t tiles = std::min(room.together, loop.last - begin);
      for (int64_t t = 0; t < tiles; ++t) {
        transform_input_tile<Lanes>(shape, loop.input, begin + t, room.zeros, input, t);
      }
      for (int64_t position = 0; position < WinogradShape::kPositions; ++position) {
        const float* weights = loop.transformed + position * shape.in_channels * shape.out_channels;
        int64_t k = 0;
        for (; k + Block<Lanes>::kColumns * Lanes::kLanes <= shape.out_channels;
             k += Block<Lanes>::kColumns * Lanes::kLanes) {
          multiply_columns<Lanes, Block<Lanes>::kColumns>(input, tiles, output, position, weights,
                                                          k);
        }
        if (k < shape.out_channels) {
          multiply_columns<Lanes, 1>(input, tiles, output, position, weights, k);
        }
      }
      for (int64_t t = 0; t < tiles; ++t) {
        transform_output_tile<Lanes>(loop, begin + t, output, t);
      }
    }
  }
};

template <typename Lanes>
struct SumGradient {
  const SumWeightGradient& loop;

  template <int kColumns>
  [[gnu::always_inline]] void add_columns(const Transforms& input, const Transforms& gradient,
                                          int64_t tiles, int64_t position, int64_t k) const {
    const auto& shape = loop.shape;
    for (int64_t c = 0; c < shape.in_channels; c += Block<Lanes>::kGradientRows) {
      multiply<Lanes, Block<Lanes>::kGradientRows, kColumns, Then::kAdd>(
          {input.at(position, 0) + c, /*row=*/1, /*column=*/shape.in_channels}, tiles,
          gradient.at(position, 0) + k, shape.out_channels,
          loop.sums + (position * shape.in_channels + c) * shape.out_channels + k);
    }
  }

  [[gnu::always_inline]] void operator()() const {
    const auto& shape = loop.shape;
    const Room room(shape);
    const auto &input = room.input, &gradient = room.output;
    for (int64_t begin = loop.first; begin < loop.last; begin += room.together) {
      const int64_t tiles = std::min(room.together, loop.last - begin);
      for (int64_t t = 0; t < tiles; ++t) {
        transform_input_tile<Lanes>(shape, loop.input, begin + t, room.zeros, input, t);
        transform_gradient_tile<Lanes>(shape, loop.output_gradient, begin + t, room.zeros, gradient,
                                       t);
      }
      for (int64_t position = 0; position < WinogradShape::kPositions; ++position) {
        int64_t k = 0;
        for (; k + Block<Lanes>::kColumns * Lanes::kLanes <= shape.out_channels;
             k += Block<Lanes>::kColumns * Lanes::kLanes) {
          add_columns<Block<Lanes>::kColumns>(input, gradient, tiles, position, k);
        }
        if (k < shape.out_channels) add_columns<1>(input, gradient, tiles, position, k);
      }
    }
  }
};

// G g G' of a vector of kernels, where their i-th numbers are at `pixel(i)`; the vector of each
// position goes to `to`, positions lie `stride` apart.
template <typename Lanes, typename Pixel>
[[gnu::always_inline]] inline void transform_kernels(const Pixel& pixel, float* to,
                                                     int64_t stride) {
  using V = typename Lanes::Value;
  V kernel[kKernel * kKernel], half[kSide * kKernel];
  for (int i = 0; i < kKernel * kKernel; ++i) kernel[i] = load<Lanes>(pixel(i));
  for (int j = 0; j < kKernel; ++j) KernelMatrix::apply(kernel + j, kKernel, half + j, kKernel);
  for (int i = 0; i < kSide; ++i) {
    V line[kSide];
    KernelMatrix::apply(half + i * kKernel, 1, line, 1);
    for (int j = 0; j < kSide; ++j) place<Lanes>(to + (i * kSide + j) * stride) = line[j];
  }
}

template <typename Lanes>
struct Weights {
  const TransformWeights& loop;

  [[gnu::always_inline]] void operator()() const {
    loop.way == WinogradWay::kForward ? transposed() : rotated();
  }

  // Neighbours in memory are neighbours in the result.
  [[gnu::always_inline]] void rotated() const {
    const int64_t in = loop.in_channels, out = loop.out_channels;
    for (int64_t k = loop.first; k < loop.last; ++k) {
      for (int64_t c = 0; c < in; c += Lanes::kLanes) {
        const auto pixel = [&](int i) {
          return loop.weights + ((k + 1) * kKernel * kKernel - 1 - i) * in + c;
        };
        transform_kernels<Lanes>(pixel, loop.transformed + k * in + c, in * out);
      }
    }
  }

  // They are not: a square of kernels is transposed first.
  [[gnu::always_inline]] void transposed() const {
    constexpr int64_t kLanes = Lanes::kLanes;
    const int64_t in = loop.in_channels, out = loop.out_channels;
    float square[kKernel * kKernel][kLanes][kLanes];  // pixel, c, k
    for (int64_t k = loop.first; k < loop.last; k += kLanes) {
      for (int64_t c = 0; c < in; c += kLanes) {
        for (int64_t l = 0; l < kLanes; ++l) {
          for (int64_t i = 0; i < kKernel * kKernel; ++i) {
            const float* from = loop.weights + ((k + l) * kKernel * kKernel + i) * in + c;
            for (int64_t m = 0; m < kLanes; ++m) square[i][m][l] = from[m];
          }
        }
        for (int64_t m = 0; m < kLanes; ++m) {
          const auto pixel = [&](int i) { return square[i][m]; };
          transform_kernels<Lanes>(pixel, loop.transformed + (c + m) * out + k, in * out);
        }
      }
    }
  }
};

template <typename Lanes>
struct FinishGradient {
  const FinishWeightGradient& loop;

  [[gnu::always_inline]] void operator()() const {
    using V = typename Lanes::Value;
    const int64_t in = loop.shape.in_channels, out = loop.shape.out_channels;
    for (int64_t c = loop.first; c < loop.last; ++c) {
      for (int64_t k = 0; k < out; k += Lanes::kLanes) {
        V sums[kSide * kSide], half[kKernel * kSide], kernel[kKernel * kKernel];
        for (int64_t position = 0; position < WinogradShape::kPositions; ++position) {
          const float* from = loop.sums + (position * in + c) * out + k;
          V sum = load<Lanes>(from);
          for (int64_t part = 1; part < loop.parts; ++part) {
            sum += load<Lanes>(from + part * loop.shape.weights());
          }
          sums[position] = sum;
        }
        for (int j = 0; j < kSide; ++j) SumsMatrix::apply(sums + j, kSide, half + j, kSide);
        for (int i = 0; i < kKernel; ++i) {
          SumsMatrix::apply(half + i * kSide, 1, kernel + i * kKernel, 1);
        }
        for (int i = 0; i < kKernel * kKernel; ++i) {
          for (int64_t l = 0; l < Lanes::kLanes; ++l) {
            loop.gradient[((k + l) * kKernel * kKernel + i) * in + c] = kernel[i][l];
          }
        }
      }
    }
  }
};

template <typename Loop>
[[gnu::target("avx2,fma")]] void with_avx2(const Loop& loop) {
  loop();
}
template <typename Loop>
[[gnu::target("avx512f,fma")]] void with_avx512(const Loop& loop) {
  loop();
}

constexpr WinogradLoops kAvx2 = {
    [](const TransformWeights& loop) { with_avx2(Weights<Eight>{loop}); },
    [](const ConvolveTiles& loop) { with_avx2(Convolve<Eight>{loop}); },
    [](const SumWeightGradient& loop) { with_avx2(SumGradient<Eight>{loop}); },
    [](const FinishWeightGradient& loop) { with_avx2(FinishGradient<Eight>{loop}); },
};
constexpr WinogradLoops kAvx512 = {
    [](const TransformWeights& loop) { with_avx512(Weights<Sixteen>{loop}); },
    [](const ConvolveTiles& loop) { with_avx512(Convolve<Sixteen>{loop}); },
    [](const SumWeightGradient& loop) { with_avx512(SumGradient<Sixteen>{loop}); },
    [](const FinishWeightGradient& loop) { with_avx512(FinishGradient<Sixteen>{loop}); },
};

}  // namespace

const WinogradLoops* winograd_loops_avx2() {
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return supported ? &kAvx2 : nullptr;
}

const WinogradLoops* winograd_loops_avx512() {
  static const bool supported = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
  return supported ? &kAvx512 : nullptr;
}

#else

const WinogradLoops* winograd_loops_avx2() { return nullptr; }
const WinogradLoops* winograd_loops_avx512() { return nullptr; }

#endif

}  // namespace proca::kernels

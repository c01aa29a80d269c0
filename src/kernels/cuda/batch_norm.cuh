#pragma once

// Batch normalisation over groups of images, with residual addition and ReLU, in two passes over
// memory forward and two backward. A GPU multiplies faster than it reads, so that is all its time.
//
//   forward    sums of every chunk of pixels -> statistics by group -> output
//   backward   sums of every chunk           -> coefficients        -> gradients
//
// With several ranks, the chunks' sums become totals, which the ranks add up before statistics
// and coefficients are computed from them.
//
// A thread handles `kUnit` neighbouring channels and walks along the pixels of a chunk. Sums are
// added up in a fixed order: the same input gives the same bits.

#include "kernels/cuda/activations.cuh"
#include "kernels/cuda/batch_norm_launch.h"

namespace proca::kernels::cuda {

// The part of a thread: kUnit channels of every `step`th pixel of a chunk.
struct Share {
  int group;
  int channel;  // the first
  int64_t begin, end;
  int64_t step;
};

__device__ __forceinline__ Share share_of_thread(const Layout& layout) {
  Share share;
  const int chunk = static_cast<int>(blockIdx.y);
  share.group = 0;
  while (chunk >= layout.first_chunk[share.group + 1]) ++share.group;
  const int64_t first = layout.first_pixel[share.group];
  const int64_t count = layout.first_pixel[share.group + 1] - first;
  const int64_t chunks = layout.first_chunk[share.group + 1] - layout.first_chunk[share.group];
  const int64_t place = chunk - layout.first_chunk[share.group];
  share.channel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * kUnit;
  share.begin = first + count * place / chunks + threadIdx.y;
  share.end = first + count * (place + 1) / chunks;
  share.step = blockDim.y;
  return share;
}

// Adds up two units over the rows of a block and writes them as the chunk's sums,
// [chunk, 2, channels].
inline __device__ void write_sums(const Layout& layout, const Share& share, const Unit& first,
                           const Unit& second, float* partial) {
  __shared__ float rows[kThreads][kUnit];
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int width = static_cast<int>(blockDim.x) * kUnit;
  float* to = partial + static_cast<int64_t>(blockIdx.y) * 2 * layout.channels +
              static_cast<int64_t>(blockIdx.x) * width;
  for (int part = 0; part < 2; ++part) {
    const Unit& unit = part == 0 ? first : second;
#pragma unroll
    for (int i = 0; i < kUnit; ++i) rows[thread][i] = unit.value[i];
    __syncthreads();
    for (int c = thread; c < width; c += static_cast<int>(blockDim.x * blockDim.y)) {
      float sum = 0;
      for (unsigned y = 0; y < blockDim.y; ++y) {
        sum += rows[y * blockDim.x + static_cast<unsigned>(c / kUnit)][c % kUnit];
      }
      to[part * layout.channels + c] = sum;
    }
    __syncthreads();
  }
}

struct Pair {
  double first, second;
};

constexpr int kTile = 32;  // channels of a block below, and threads that add up each

// Adds up the chunks of a group for 32 channels: thread (x, y) reads channel x of every
// 32nd chunk from y on, and gets the total of channel y.
inline __device__ Pair add_chunks(const Layout& layout, int group, const float* partial) {
  __shared__ double firsts[kTile][kTile + 1], seconds[kTile][kTile + 1];
  const int channel = min(static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x),
                          layout.channels - 1);
  double first = 0, second = 0;
#pragma unroll 4
  for (int chunk = layout.first_chunk[group] + static_cast<int>(threadIdx.y);
       chunk < layout.first_chunk[group + 1]; chunk += kTile) {
    const float* sums = partial + static_cast<int64_t>(chunk) * 2 * layout.channels + channel;
    first += sums[0];
    second += sums[layout.channels];
  }
  __syncthreads();  // The previous group's have been read.
  firsts[threadIdx.y][threadIdx.x] = first;
  seconds[threadIdx.y][threadIdx.x] = second;
  __syncthreads();
  Pair total = {firsts[threadIdx.x][threadIdx.y], seconds[threadIdx.x][threadIdx.y]};
#pragma unroll
  for (int distance = kTile / 2; distance > 0; distance /= 2) {
    total.first += __shfl_xor_sync(0xffffffffu, total.first, distance);
    total.second += __shfl_xor_sync(0xffffffffu, total.second, distance);
  }
  return total;
}

// The channel whose total a thread gets. One thread of each 32 uses it.
__device__ __forceinline__ int channel_of_total() {
  return static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.y);
}

__device__ __forceinline__ double count_of(const Layout& layout, int group) {
  return static_cast<double>(layout.first_pixel[group + 1] - layout.first_pixel[group]);
}

// Normalised = scale * x + shift. The backward pass recomputes from the same numbers what ReLU
// let pass.
struct Affine {
  Unit scale, shift;
};

__device__ __forceinline__ Affine affine_of(const float* weight, const float* bias,
                                            const float* mean, const float* inv_std) {
  const Unit w = load(weight), b = load(bias), m = load(mean), s = load(inv_std);
  Affine affine;
#pragma unroll
  for (int i = 0; i < kUnit; ++i) {
    affine.scale.value[i] = w.value[i] * s.value[i];
    affine.shift.value[i] = fmaf(-m.value[i], affine.scale.value[i], b.value[i]);
  }
  return affine;
}

struct Shape {
  dim3 grid, block;
};

inline Shape shape_of(const Layout& layout) {
  const int width = block_width(layout.channels);
  return {dim3(static_cast<unsigned>(layout.channels / (width * kUnit)),
               static_cast<unsigned>(layout.num_chunks())),
          dim3(static_cast<unsigned>(width), static_cast<unsigned>(kThreads / width))};
}

inline dim3 finish_grid(const Layout& layout) {
  return dim3(static_cast<unsigned>((layout.channels + kTile - 1) / kTile));
}

// One thread for every channel.
inline dim3 channel_grid(const Layout& layout) {
  return dim3(static_cast<unsigned>((layout.channels + kThreads - 1) / kThreads));
}

// A rank may have no pixel at all.
inline bool has_pixels(const Layout& layout) { return layout.num_chunks() > 0; }

}  // namespace proca::kernels::cuda

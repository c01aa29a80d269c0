// The largest of 3 x 3 neighbours at every second pixel. Which one it was is kept as a
// number from 0 to 8, so that on the way back every pixel can ask the windows it lies in
// whether it had won: no two threads write to the same place.

#include "kernels/cuda/activations.cuh"
#include "kernels/cuda/max_pool_launch.h"

namespace proca::kernels::cuda {
namespace {

constexpr int kThreads = 256;

// The winners of a thread's channels.
struct Winners {
  uint8_t number[kUnit];
};
static_assert(sizeof(Winners) == sizeof(uint2));

__device__ __forceinline__ Winners load_winners(const uint8_t* from) {
  const uint2 bits = *reinterpret_cast<const uint2*>(from);
  return *reinterpret_cast<const Winners*>(&bits);
}

// A thread's place in an image: one pixel, some channels.
struct Place {
  int image, y, x, channel;
};

__device__ __forceinline__ Place place_of(int64_t thread, int height, int width, int channels) {
  const int units = channels / kUnit;
  Place place;
  place.channel = static_cast<int>(thread % units) * kUnit;
  thread /= units;
  place.x = static_cast<int>(thread % width);
  thread /= width;
  place.y = static_cast<int>(thread % height);
  place.image = static_cast<int>(thread / height);
  return place;
}

__device__ __forceinline__ int64_t offset(const Place& place, int y, int x, int height, int width,
                                          int channels) {
  return ((static_cast<int64_t>(place.image) * height + y) * width + x) * channels + place.channel;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    pool(MaxPool shape, const T* values, T* output, uint8_t* winners, int64_t count) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (thread >= count) return;
  const Place place = place_of(thread, shape.output_height, shape.output_width, shape.channels);
  Unit best;
  Winners winner = {};
  bool is_first = true;
#pragma unroll
  for (int tap = 0; tap < 9; ++tap) {
    const int y = 2 * place.y - 1 + tap / 3, x = 2 * place.x - 1 + tap % 3;
    if (y < 0 || y >= shape.height || x < 0 || x >= shape.width) continue;
    const Unit unit = load(values + offset(place, y, x, shape.height, shape.width, shape.channels));
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      // What is no number wins, and stays.
      const float value = unit.value[i];
      if (is_first || value > best.value[i] || value != value) {
        best.value[i] = value;
        winner.number[i] = static_cast<uint8_t>(tap);
      }
    }
    is_first = false;
  }
  const int64_t at =
      offset(place, place.y, place.x, shape.output_height, shape.output_width, shape.channels);
  store(output + at, best);
  *reinterpret_cast<uint2*>(winners + at) = *reinterpret_cast<const uint2*>(&winner);
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    give_back(MaxPool shape, const T* output_gradient, const uint8_t* winners, T* gradient,
              int64_t count) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (thread >= count) return;
  const Place place = place_of(thread, shape.height, shape.width, shape.channels);
  Unit sum = {};
  // The window at (oy, ox) covers rows 2 oy - 1 to 2 oy + 1.
#pragma unroll
  for (int down = 0; down < 2; ++down) {
#pragma unroll
    for (int right = 0; right < 2; ++right) {
      const int oy = place.y / 2 + down, ox = place.x / 2 + right;
      const int row = place.y - 2 * oy + 1, column = place.x - 2 * ox + 1;
      if (row < 0 || column < 0 || oy >= shape.output_height || ox >= shape.output_width) {
        continue;
      }
      const int64_t at =
          offset(place, oy, ox, shape.output_height, shape.output_width, shape.channels);
      const Winners winner = load_winners(winners + at);
      const Unit unit = load(output_gradient + at);
#pragma unroll
      for (int i = 0; i < kUnit; ++i) {
        if (winner.number[i] == 3 * row + column) sum.value[i] += unit.value[i];
      }
    }
  }
  store(gradient + offset(place, place.y, place.x, shape.height, shape.width, shape.channels), sum);
}

unsigned blocks(int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

template <typename T>
void pool_as(const MaxPool& shape, const void* values, void* output, uint8_t* winners,
             cudaStream_t stream) {
  const int64_t count = static_cast<int64_t>(shape.images) * shape.output_height *
                        shape.output_width * (shape.channels / kUnit);
  pool<T><<<blocks(count), kThreads, 0, stream>>>(shape, static_cast<const T*>(values),
                                                  static_cast<T*>(output), winners, count);
}

template <typename T>
void give_back_as(const MaxPool& shape, const void* output_gradient, const uint8_t* winners,
                  void* gradient, cudaStream_t stream) {
  const int64_t count =
      static_cast<int64_t>(shape.images) * shape.height * shape.width * (shape.channels / kUnit);
  give_back<T><<<blocks(count), kThreads, 0, stream>>>(
      shape, static_cast<const T*>(output_gradient), winners, static_cast<T*>(gradient), count);
}

}  // namespace

void launch_max_pool(const MaxPool& shape, const void* values, void* output, uint8_t* winners,
                     cudaStream_t stream) {
  if (shape.type == ElementType::kBFloat16) {
    return pool_as<__nv_bfloat16>(shape, values, output, winners, stream);
  }
  pool_as<float>(shape, values, output, winners, stream);
}

void launch_max_pool_backward(const MaxPool& shape, const void* output_gradient,
                              const uint8_t* winners, void* gradient, cudaStream_t stream) {
  if (shape.type == ElementType::kBFloat16) {
    return give_back_as<__nv_bfloat16>(shape, output_gradient, winners, gradient, stream);
  }
  give_back_as<float>(shape, output_gradient, winners, gradient, stream);
}

}  // namespace proca::kernels::cuda

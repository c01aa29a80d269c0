// Batch normalisation over groups of images, with rectifier and residual, in two passes
// over memory each way, which is all the work there is: a GPU multiplies faster than it
// reads.
//
//   forward    sums of every chunk of pixels -> statistics by group -> output
//   backward   sums of every chunk           -> coefficients        -> gradients
//
// Every thread looks after `kUnit` neighbouring channels and walks along the pixels of a
// chunk. Sums are added up in a fixed order: the same input gives the same bits.

#include "batch_norm_launch.h"

#include <cuda_bf16.h>

#include <algorithm>

namespace proca::models::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kReduceRows = 32;  // threads that add up the chunks of a channel

// Values of one thread.
struct Unit {
  float value[kUnit];
};

__device__ __forceinline__ Unit load(const float* from) {
  const float4 low = reinterpret_cast<const float4*>(from)[0];
  const float4 high = reinterpret_cast<const float4*>(from)[1];
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

__device__ __forceinline__ Unit load(const __nv_bfloat16* from) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
  Unit unit;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // A bfloat16 is the upper half of a float.
    unit.value[2 * i] = __uint_as_float(words[i] << 16);
    unit.value[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
  }
  return unit;
}

__device__ __forceinline__ void store(float* to, const Unit& unit) {
  const float* v = unit.value;
  reinterpret_cast<float4*>(to)[0] = make_float4(v[0], v[1], v[2], v[3]);
  reinterpret_cast<float4*>(to)[1] = make_float4(v[4], v[5], v[6], v[7]);
}

__device__ __forceinline__ void store(__nv_bfloat16* to, const Unit& unit) {
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(unit.value[2 * i], unit.value[2 * i + 1]);
    words[i] = *reinterpret_cast<const uint32_t*>(&pair);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

// The part of the work that a thread of the kernels below does: some channels of every
// so-manieth pixel of a chunk.
struct Share {
  int group;
  int channel;  // first of kUnit
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
__device__ void write_sums(const Layout& layout, const Share& share, const Unit& first,
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

// Sums of x - p and (x - p)^2, where p is the running mean: near the mean, so that the
// difference of large numbers never has to give a small variance.
template <typename T>
__global__ void __launch_bounds__(kThreads) sum_values(Forward work) {
  const Share share = share_of_thread(work.layout);
  const auto* values = static_cast<const T*>(work.values) + share.channel;
  const Unit pivot = load(work.running_mean + share.channel);
  Unit sum = {}, squares = {};
#pragma unroll 4
  for (int64_t pixel = share.begin; pixel < share.end; pixel += share.step) {
    const Unit x = load(values + pixel * work.layout.channels);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      const float difference = x.value[i] - pivot.value[i];
      sum.value[i] += difference;
      squares.value[i] = fmaf(difference, difference, squares.value[i]);
    }
  }
  write_sums(work.layout, share, sum, squares, work.partial);
}

struct Pair {
  double first, second;
};

// The sums of one channel over all chunks of a group; for the threads with y = 0.
__device__ Pair add_chunks(const Layout& layout, int group, int channel, const float* partial) {
  __shared__ double firsts[kReduceRows][32], seconds[kReduceRows][32];
  double first = 0, second = 0;
  for (int chunk = layout.first_chunk[group] + static_cast<int>(threadIdx.y);
       chunk < layout.first_chunk[group + 1]; chunk += kReduceRows) {
    const float* sums = partial + static_cast<int64_t>(chunk) * 2 * layout.channels + channel;
    first += sums[0];
    second += sums[layout.channels];
  }
  __syncthreads();
  firsts[threadIdx.y][threadIdx.x] = first;
  seconds[threadIdx.y][threadIdx.x] = second;
  __syncthreads();
  Pair total = {0, 0};
  if (threadIdx.y == 0) {
    for (int row = 0; row < kReduceRows; ++row) {
      total.first += firsts[row][threadIdx.x];
      total.second += seconds[row][threadIdx.x];
    }
  }
  return total;
}

// Groups update the running statistics one after the other, as separate calls would.
__global__ void finish_statistics(Forward work) {
  const int channel = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  // Threads beyond the last channel help with nothing, but must meet the others.
  const int readable = min(channel, work.layout.channels - 1);
  const double pivot = work.running_mean[readable];
  double running_mean = pivot, running_var = work.running_var[readable];
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const Pair sums = add_chunks(work.layout, group, readable, work.partial);
    if (threadIdx.y > 0) continue;
    const auto count =
        static_cast<double>(work.layout.first_pixel[group + 1] - work.layout.first_pixel[group]);
    const double offset = sums.first / count;
    const double mean = pivot + offset;
    const double variance = max(sums.second / count - offset * offset, 0.0);
    running_mean += work.momentum * (mean - running_mean);
    running_var += work.momentum * (variance * count / (count - 1) - running_var);
    if (channel >= work.layout.channels) continue;
    work.mean[group * work.layout.channels + channel] = static_cast<float>(mean);
    work.inv_std[group * work.layout.channels + channel] =
        static_cast<float>(1.0 / sqrt(variance + work.epsilon));
  }
  if (threadIdx.y > 0 || channel >= work.layout.channels) return;
  work.running_mean[channel] = static_cast<float>(running_mean);
  work.running_var[channel] = static_cast<float>(running_var);
  if (channel == 0) *work.num_batches_tracked += work.layout.num_groups;
}

// Normalised = scale * x + shift. The way back decides by the same numbers what the
// rectifier let pass.
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

template <typename T, bool kResidual>
__global__ void __launch_bounds__(kThreads) write_output(Forward work) {
  const Share share = share_of_thread(work.layout);
  const int channels = work.layout.channels;
  const auto* values = static_cast<const T*>(work.values) + share.channel;
  const auto* residual = static_cast<const T*>(work.residual) + share.channel;
  auto* output = static_cast<T*>(work.output) + share.channel;
  const int statistics = share.group * channels + share.channel;
  const Affine affine = affine_of(work.weight + share.channel, work.bias + share.channel,
                                  work.mean + statistics, work.inv_std + statistics);
#pragma unroll 4
  for (int64_t pixel = share.begin; pixel < share.end; pixel += share.step) {
    const int64_t at = pixel * channels;
    Unit y = load(values + at);
    Unit other = {};
    if (kResidual) other = load(residual + at);
    unsigned passed = 0;
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      y.value[i] = fmaf(y.value[i], affine.scale.value[i], affine.shift.value[i]);
      if (kResidual) y.value[i] += other.value[i];
      if (work.relu) {
        if (y.value[i] > 0) passed |= 1u << i;
        // Not max(): what is no number should stay none, for the loss to show.
        if (y.value[i] <= 0) y.value[i] = 0;
      }
    }
    store(output + at, y);
    if (work.mask != nullptr) {
      work.mask[(at + share.channel) / kUnit] = static_cast<uint8_t>(passed);
    }
  }
}

// The gradient in front of the rectifier.
template <bool kMask>
__device__ __forceinline__ void rectify(const Backward& work, const Affine& affine, const Unit& x,
                                        int64_t byte, Unit& gradient) {
  if (!work.relu) return;
  unsigned passed = 0;
  if (kMask) passed = work.mask[byte];
#pragma unroll
  for (int i = 0; i < kUnit; ++i) {
    const bool open = kMask ? (passed >> i & 1u) != 0
                            : fmaf(x.value[i], affine.scale.value[i], affine.shift.value[i]) > 0;
    if (!open) gradient.value[i] = 0;
  }
}

// Sums of the gradient g and of g * (x - mean).
template <typename T, bool kMask>
__global__ void __launch_bounds__(kThreads) sum_gradients(Backward work) {
  const Share share = share_of_thread(work.layout);
  const int channels = work.layout.channels;
  const auto* values = static_cast<const T*>(work.values) + share.channel;
  const auto* gradients = static_cast<const T*>(work.output_gradient) + share.channel;
  const int statistics = share.group * channels + share.channel;
  const Affine affine = affine_of(work.weight + share.channel, work.bias + share.channel,
                                  work.mean + statistics, work.inv_std + statistics);
  const Unit mean = load(work.mean + statistics);
  Unit sum = {}, products = {};
#pragma unroll 4
  for (int64_t pixel = share.begin; pixel < share.end; pixel += share.step) {
    const int64_t at = pixel * channels;
    const Unit x = load(values + at);
    Unit g = load(gradients + at);
    rectify<kMask>(work, affine, x, (at + share.channel) / kUnit, g);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      sum.value[i] += g.value[i];
      products.value[i] = fmaf(g.value[i], x.value[i] - mean.value[i], products.value[i]);
    }
  }
  write_sums(work.layout, share, sum, products, work.partial);
}

// With n pixels, s = inv_std and a = weight * s, the gradient of x is
//     a g - a s^2 sum(g (x - mean)) / n * (x - mean) - a sum(g) / n
//   = a g + slope (x - mean) + offset.
__global__ void finish_gradients(Backward work) {
  const int channels = work.layout.channels;
  const int channel = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int readable = min(channel, channels - 1);
  const double weight = work.weight[readable];
  double weight_gradient = 0, bias_gradient = 0;
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const Pair sums = add_chunks(work.layout, group, readable, work.partial);
    if (threadIdx.y > 0 || channel >= channels) continue;
    const auto count =
        static_cast<double>(work.layout.first_pixel[group + 1] - work.layout.first_pixel[group]);
    const int at = group * channels + channel;
    const double inv_std = work.inv_std[at];
    bias_gradient += sums.first;
    weight_gradient += sums.second * inv_std;
    const double slope = -weight * inv_std * inv_std * inv_std * sums.second / count;
    work.coefficients[at] = static_cast<float>(slope);
    work.coefficients[work.layout.num_groups * channels + at] =
        static_cast<float>(-weight * inv_std * sums.first / count);
  }
  if (threadIdx.y > 0 || channel >= channels) return;
  work.weight_gradient[channel] = static_cast<float>(weight_gradient);
  work.bias_gradient[channel] = static_cast<float>(bias_gradient);
}

template <typename T, bool kMask>
__global__ void __launch_bounds__(kThreads) write_gradients(Backward work) {
  const Share share = share_of_thread(work.layout);
  const int channels = work.layout.channels;
  const auto* values = static_cast<const T*>(work.values) + share.channel;
  const auto* gradients = static_cast<const T*>(work.output_gradient) + share.channel;
  auto* result = static_cast<T*>(work.values_gradient) + share.channel;
  auto* residual = static_cast<T*>(work.residual_gradient) + share.channel;
  const int statistics = share.group * channels + share.channel;
  const Affine affine = affine_of(work.weight + share.channel, work.bias + share.channel,
                                  work.mean + statistics, work.inv_std + statistics);
  const Unit mean = load(work.mean + statistics);
  const Unit slope = load(work.coefficients + statistics);
  const Unit offset = load(work.coefficients + work.layout.num_groups * channels + statistics);
#pragma unroll 2
  for (int64_t pixel = share.begin; pixel < share.end; pixel += share.step) {
    const int64_t at = pixel * channels;
    const Unit x = load(values + at);
    Unit g = load(gradients + at);
    rectify<kMask>(work, affine, x, (at + share.channel) / kUnit, g);
    if (work.residual_gradient != nullptr) store(residual + at, g);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      g.value[i] = fmaf(g.value[i], affine.scale.value[i],
                        fmaf(x.value[i] - mean.value[i], slope.value[i], offset.value[i]));
    }
    store(result + at, g);
  }
}

// Threads of a block along the channels: at most 32, and a divisor of the units there are.
int block_width(int channels) {
  const int units = channels / kUnit;
  int width = 1;
  while (width < 32 && units % (2 * width) == 0) width *= 2;
  return width;
}

struct Shape {
  dim3 grid, block;
};

Shape shape_of(const Layout& layout) {
  const int width = block_width(layout.channels);
  return {dim3(static_cast<unsigned>(layout.channels / (width * kUnit)),
               static_cast<unsigned>(layout.num_chunks())),
          dim3(static_cast<unsigned>(width), static_cast<unsigned>(kThreads / width))};
}

dim3 finish_grid(const Layout& layout) {
  return dim3(static_cast<unsigned>((layout.channels + 31) / 32));
}

template <typename T>
void launch_forward_as(const Forward& work, cudaStream_t stream) {
  const Shape shape = shape_of(work.layout);
  sum_values<T><<<shape.grid, shape.block, 0, stream>>>(work);
  finish_statistics<<<finish_grid(work.layout), dim3(32, kReduceRows), 0, stream>>>(work);
  if (work.residual != nullptr) {
    write_output<T, true><<<shape.grid, shape.block, 0, stream>>>(work);
  } else {
    write_output<T, false><<<shape.grid, shape.block, 0, stream>>>(work);
  }
}

template <typename T, bool kMask>
void launch_backward_as(const Backward& work, cudaStream_t stream) {
  const Shape shape = shape_of(work.layout);
  sum_gradients<T, kMask><<<shape.grid, shape.block, 0, stream>>>(work);
  finish_gradients<<<finish_grid(work.layout), dim3(32, kReduceRows), 0, stream>>>(work);
  write_gradients<T, kMask><<<shape.grid, shape.block, 0, stream>>>(work);
}

}  // namespace

void share_out(Layout& layout, int num_multiprocessors) {
  const int width = block_width(layout.channels);
  const int64_t tiles = layout.channels / (width * kUnit);
  const int64_t rows = kThreads / width;
  const int64_t pixels = layout.first_pixel[layout.num_groups];
  // Six blocks for every multiprocessor, but no chunk of less than four pixels a thread.
  const int64_t wanted = std::max<int64_t>(1, 6 * num_multiprocessors / tiles);
  for (int group = 0; group < layout.num_groups; ++group) {
    const int64_t count = layout.first_pixel[group + 1] - layout.first_pixel[group];
    const int64_t fair = (wanted * count + pixels - 1) / pixels;
    const int64_t most = std::max<int64_t>(1, count / (4 * rows));
    layout.first_chunk[group + 1] =
        layout.first_chunk[group] + static_cast<int>(std::min(fair, most));
  }
}

int64_t partial_size(const Layout& layout) {
  return int64_t{2} * layout.num_chunks() * layout.channels;
}

void launch_forward(const Forward& work, cudaStream_t stream) {
  if (work.type == ElementType::kBFloat16) return launch_forward_as<__nv_bfloat16>(work, stream);
  launch_forward_as<float>(work, stream);
}

void launch_backward(const Backward& work, cudaStream_t stream) {
  const bool mask = work.mask != nullptr;
  if (work.type == ElementType::kBFloat16) {
    return mask ? launch_backward_as<__nv_bfloat16, true>(work, stream)
                : launch_backward_as<__nv_bfloat16, false>(work, stream);
  }
  mask ? launch_backward_as<float, true>(work, stream)
       : launch_backward_as<float, false>(work, stream);
}

}  // namespace proca::models::cuda

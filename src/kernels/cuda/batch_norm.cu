// Batch normalisation over groups of images, with rectifier and residual, in two passes
// over memory each way, which is all the work there is: a GPU multiplies faster than it
// reads.
//
//   forward    sums of every chunk of pixels -> statistics by group -> output
//   backward   sums of every chunk           -> coefficients        -> gradients
//
// Several ranks meet in the middle: the chunks' sums become totals, which they add up, and
// statistics and coefficients are those of all ranks' pixels.
//
// Every thread looks after `kUnit` neighbouring channels and walks along the pixels of a
// chunk. Sums are added up in a fixed order: the same input gives the same bits.

#include "kernels/cuda/batch_norm_launch.h"

#include <algorithm>

#include "kernels/cuda/activations.cuh"

namespace proca::kernels::cuda {
namespace {

constexpr int kThreads = 256;

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

constexpr int kTile = 32;  // channels of a block below, and threads that add up each

// Adds up the chunks of a group for 32 channels: thread (x, y) reads channel x of every
// 32nd chunk from y on, and gets the total of channel y.
__device__ Pair add_chunks(const Layout& layout, int group, const float* partial) {
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
  __syncthreads();  // Those of the last group have been read.
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

// The channel whose total a thread gets. One thread of each 32 does something with it.
__device__ __forceinline__ int channel_of_total() {
  return static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.y);
}

// A channel's running statistics, which groups update one after the other, as separate calls
// would.
struct Running {
  double mean, var;
};

__device__ __forceinline__ Running running_of(const Forward& work, int channel) {
  return {work.running_mean[channel], work.running_var[channel]};
}

__device__ __forceinline__ void take_group(const Forward& work, int group, int channel,
                                           double count, double mean, double variance,
                                           Running& running) {
  running.mean += work.momentum * (mean - running.mean);
  running.var += work.momentum * (variance * count / (count - 1) - running.var);
  const int at = group * work.layout.channels + channel;
  work.mean[at] = static_cast<float>(mean);
  work.inv_std[at] = static_cast<float>(1.0 / sqrt(variance + work.epsilon));
}

__device__ __forceinline__ void keep_running(const Forward& work, int channel,
                                             const Running& running) {
  work.running_mean[channel] = static_cast<float>(running.mean);
  work.running_var[channel] = static_cast<float>(running.var);
  if (channel == 0) *work.num_batches_tracked += work.layout.num_groups;
}

__device__ __forceinline__ double count_of(const Layout& layout, int group) {
  return static_cast<double>(layout.first_pixel[group + 1] - layout.first_pixel[group]);
}

__global__ void finish_statistics(Forward work) {
  const int channels = work.layout.channels, channel = channel_of_total();
  const bool writes = threadIdx.x == 0 && channel < channels;
  Running running = running_of(work, min(channel, channels - 1));
  const double pivot = running.mean;
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const Pair sums = add_chunks(work.layout, group, work.partial);
    if (!writes) continue;
    const double count = count_of(work.layout, group), offset = sums.first / count;
    take_group(work, group, channel, count, pivot + offset,
               max(sums.second / count - offset * offset, 0.0), running);
  }
  if (writes) keep_running(work, channel, running);
}

// Where a group's totals of a channel lie: the count once, then sums, then sums of squares.
__device__ __forceinline__ double* totals_of(const Forward& work, int group) {
  return work.totals + static_cast<int64_t>(group) * (2 * work.layout.channels + 1);
}

// Of this rank: not about the pivot, since that is for kernels alone to know.
__global__ void total_values(Forward work) {
  const int channels = work.layout.channels, channel = channel_of_total();
  const bool writes = threadIdx.x == 0 && channel < channels;
  const double pivot = work.running_mean[min(channel, channels - 1)];
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const Pair sums = add_chunks(work.layout, group, work.partial);
    if (!writes) continue;
    const double count = count_of(work.layout, group);
    double* totals = totals_of(work, group);
    if (channel == 0) totals[0] = count;
    totals[1 + channel] = sums.first + pivot * count;
    totals[1 + channels + channel] =
        sums.second + pivot * (2 * sums.first + pivot * count);
  }
}

// Of all ranks.
__global__ void finish_shared_statistics(Forward work) {
  const int channels = work.layout.channels;
  const int channel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (channel >= channels) return;
  Running running = running_of(work, channel);
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const double* totals = totals_of(work, group);
    const double count = totals[0], mean = totals[1 + channel] / count;
    take_group(work, group, channel, count, mean,
               max(totals[1 + channels + channel] / count - mean * mean, 0.0), running);
  }
  keep_running(work, channel, running);
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
// `sum` is that of g, `product` that of g (x - mean) s.
__device__ __forceinline__ void write_coefficients(const Backward& work, int at, double weight,
                                                   double sum, double product, double count) {
  const double scale = -weight * work.inv_std[at] / count;
  work.coefficients[at] = static_cast<float>(scale * work.inv_std[at] * product);
  work.coefficients[work.layout.num_groups * work.layout.channels + at] =
      static_cast<float>(scale * sum);
}

// Weight and bias get the gradients of this rank's pixels; those of all ranks are added up
// with all other weights'.
__global__ void finish_gradients(Backward work) {
  const int channels = work.layout.channels, channel = channel_of_total();
  const bool writes = threadIdx.x == 0 && channel < channels;
  const double weight = work.weight[min(channel, channels - 1)];
  double weight_gradient = 0, bias_gradient = 0;
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const Pair sums = add_chunks(work.layout, group, work.partial);
    if (!writes) continue;
    const int at = group * channels + channel;
    const double product = sums.second * work.inv_std[at];
    bias_gradient += sums.first;
    weight_gradient += product;
    if (work.totals != nullptr) {  // The coefficients come once the ranks have met.
      work.totals[2 * group * channels + channel] = sums.first;
      work.totals[(2 * group + 1) * channels + channel] = product;
    } else {
      write_coefficients(work, at, weight, sums.first, product, count_of(work.layout, group));
    }
  }
  if (!writes) return;
  work.weight_gradient[channel] = static_cast<float>(weight_gradient);
  work.bias_gradient[channel] = static_cast<float>(bias_gradient);
}

__global__ void finish_shared_gradients(Backward work) {
  const int channels = work.layout.channels;
  const int channel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (channel >= channels) return;
  for (int group = 0; group < work.layout.num_groups; ++group) {
    write_coefficients(work, group * channels + channel, work.weight[channel],
                       work.totals[2 * group * channels + channel],
                       work.totals[(2 * group + 1) * channels + channel], work.pixels[group]);
  }
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
  return dim3(static_cast<unsigned>((layout.channels + kTile - 1) / kTile));
}

// One thread for every channel.
dim3 channel_grid(const Layout& layout) {
  return dim3(static_cast<unsigned>((layout.channels + kThreads - 1) / kThreads));
}

// A rank may have no pixel at all.
bool has_pixels(const Layout& layout) { return layout.num_chunks() > 0; }

template <typename T>
void launch_output(const Forward& work, cudaStream_t stream) {
  if (!has_pixels(work.layout)) return;
  const Shape shape = shape_of(work.layout);
  if (work.residual != nullptr) {
    write_output<T, true><<<shape.grid, shape.block, 0, stream>>>(work);
  } else {
    write_output<T, false><<<shape.grid, shape.block, 0, stream>>>(work);
  }
}

template <typename T>
void launch_sums(const Forward& work, cudaStream_t stream) {
  if (!has_pixels(work.layout)) return;
  const Shape shape = shape_of(work.layout);
  sum_values<T><<<shape.grid, shape.block, 0, stream>>>(work);
}

template <typename T, bool kMask>
void launch_sums(const Backward& work, cudaStream_t stream) {
  const Shape shape = shape_of(work.layout);
  if (has_pixels(work.layout)) {
    sum_gradients<T, kMask><<<shape.grid, shape.block, 0, stream>>>(work);
  }
  finish_gradients<<<finish_grid(work.layout), dim3(kTile, kTile), 0, stream>>>(work);
}

template <typename T, bool kMask>
void launch_gradients(const Backward& work, cudaStream_t stream) {
  if (!has_pixels(work.layout)) return;
  const Shape shape = shape_of(work.layout);
  write_gradients<T, kMask><<<shape.grid, shape.block, 0, stream>>>(work);
}

// Calls `launch` with the type and, of the way back, the kind of the rectifier.
template <typename Launch>
void by_type(const Forward& work, Launch launch) {
  if (work.type == ElementType::kBFloat16) return launch.template operator()<__nv_bfloat16>();
  launch.template operator()<float>();
}

template <typename Launch>
void by_type(const Backward& work, Launch launch) {
  const bool mask = work.mask != nullptr;
  if (work.type == ElementType::kBFloat16) {
    return mask ? launch.template operator()<__nv_bfloat16, true>()
                : launch.template operator()<__nv_bfloat16, false>();
  }
  mask ? launch.template operator()<float, true>() : launch.template operator()<float, false>();
}

}  // namespace

void share_out(Layout& layout, int num_multiprocessors) {
  const int width = block_width(layout.channels);
  const int64_t tiles = layout.channels / (width * kUnit);
  const int64_t rows = kThreads / width;
  const int64_t pixels = std::max<int64_t>(1, layout.first_pixel[layout.num_groups]);
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
  by_type(work, [&]<typename T>() {
    launch_sums<T>(work, stream);
    finish_statistics<<<finish_grid(work.layout), dim3(kTile, kTile), 0, stream>>>(work);
    launch_output<T>(work, stream);
  });
}

void launch_totals(const Forward& work, cudaStream_t stream) {
  by_type(work, [&]<typename T>() {
    launch_sums<T>(work, stream);
    total_values<<<finish_grid(work.layout), dim3(kTile, kTile), 0, stream>>>(work);
  });
}

void launch_from_totals(const Forward& work, cudaStream_t stream) {
  finish_shared_statistics<<<channel_grid(work.layout), kThreads, 0, stream>>>(work);
  by_type(work, [&]<typename T>() { launch_output<T>(work, stream); });
}

void launch_backward(const Backward& work, cudaStream_t stream) {
  by_type(work, [&]<typename T, bool kMask>() {
    launch_sums<T, kMask>(work, stream);
    launch_gradients<T, kMask>(work, stream);
  });
}

void launch_totals(const Backward& work, cudaStream_t stream) {
  by_type(work, [&]<typename T, bool kMask>() { launch_sums<T, kMask>(work, stream); });
}

void launch_from_totals(const Backward& work, cudaStream_t stream) {
  finish_shared_gradients<<<channel_grid(work.layout), kThreads, 0, stream>>>(work);
  by_type(work, [&]<typename T, bool kMask>() { launch_gradients<T, kMask>(work, stream); });
}

}  // namespace proca::kernels::cuda

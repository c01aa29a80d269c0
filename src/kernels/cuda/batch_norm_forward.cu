// Batch normalisation forward; see batch_norm.cuh.

#include "kernels/cuda/batch_norm.cuh"

namespace proca::kernels::cuda {
namespace {

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

// A channel's running statistics. Groups update them one after the other, as separate calls
// would.
struct Running {
  double mean, var;
};

__device__ __forceinline__ Running running_of(const Forward& work, int channel) {
  return {work.running_mean[channel], work.running_var[channel]};
}

__device__ __forceinline__ void add_group(const Forward& work, int group, int channel,
                                           double count, double mean, double variance,
                                           Running& running) {
  running.mean += work.momentum * (mean - running.mean);
  running.var += work.momentum * (variance * count / (count - 1) - running.var);
  const int at = group * work.layout.channels + channel;
  work.mean[at] = static_cast<float>(mean);
  work.inv_std[at] = static_cast<float>(1.0 / sqrt(variance + work.epsilon));
}

__device__ __forceinline__ void write_running(const Forward& work, int channel,
                                             const Running& running) {
  work.running_mean[channel] = static_cast<float>(running.mean);
  work.running_var[channel] = static_cast<float>(running.var);
  if (channel == 0) *work.num_batches_tracked += work.layout.num_groups;
}

// Where a group's totals lie: the count once, then sums, then sums of squares.
__device__ __forceinline__ double* totals_of(const Forward& work, int group) {
  return work.totals + static_cast<int64_t>(group) * (2 * work.layout.channels + 1);
}

// Totals are not relative to the pivot, which other ranks do not know.
__device__ __forceinline__ void write_totals(const Forward& work, int group, int channel,
                                             double pivot, double count, const Pair& sums) {
  double* totals = totals_of(work, group);
  if (channel == 0) totals[0] = count;
  totals[1 + channel] = sums.first + pivot * count;
  totals[1 + work.layout.channels + channel] =
      sums.second + pivot * (2 * sums.first + pivot * count);
}

__global__ void finish_sums(Forward work) {
  const int channels = work.layout.channels, channel = channel_of_total();
  const bool writes = threadIdx.x == 0 && channel < channels;
  Running running = running_of(work, min(channel, channels - 1));
  const double pivot = running.mean;
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const Pair sums = add_chunks(work.layout, group, work.partial);
    if (!writes) continue;
    const double count = count_of(work.layout, group), offset = sums.first / count;
    if (work.totals != nullptr) {
      write_totals(work, group, channel, pivot, count, sums);
    } else {
      add_group(work, group, channel, count, pivot + offset,
                max(sums.second / count - offset * offset, 0.0), running);
    }
  }
  if (writes && work.totals == nullptr) write_running(work, channel, running);
}

// From the totals of all ranks.
__global__ void finish_statistics(Forward work) {
  const int channels = work.layout.channels;
  const int channel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (channel >= channels) return;
  Running running = running_of(work, channel);
  for (int group = 0; group < work.layout.num_groups; ++group) {
    const double* totals = totals_of(work, group);
    const double count = totals[0], mean = totals[1 + channel] / count;
    add_group(work, group, channel, count, mean,
              max(totals[1 + channels + channel] / count - mean * mean, 0.0), running);
  }
  write_running(work, channel, running);
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
        // Not max(), which would turn NaN into 0.
        if (y.value[i] <= 0) y.value[i] = 0;
      }
    }
    store(output + at, y);
    if (work.mask != nullptr) {
      work.mask[(at + share.channel) / kUnit] = static_cast<uint8_t>(passed);
    }
  }
}

using Kernel = void (*)(Forward);

}  // namespace

void launch_sums(const Forward& work, cudaStream_t stream) {
  if (has_pixels(work.layout)) {
    const Kernel sum =
        work.type == ElementType::kBFloat16 ? sum_values<__nv_bfloat16> : sum_values<float>;
    const Shape shape = shape_of(work.layout);
    sum<<<shape.grid, shape.block, 0, stream>>>(work);
  }
  finish_sums<<<finish_grid(work.layout), dim3(kTile, kTile), 0, stream>>>(work);
}

void launch_output(const Forward& work, cudaStream_t stream) {
  if (work.totals != nullptr) {
    finish_statistics<<<channel_grid(work.layout), kThreads, 0, stream>>>(work);
  }
  if (!has_pixels(work.layout)) return;
  constexpr Kernel kKernels[2][2] = {
      {write_output<float, false>, write_output<float, true>},
      {write_output<__nv_bfloat16, false>, write_output<__nv_bfloat16, true>}};
  const Kernel write = kKernels[work.type == ElementType::kBFloat16][work.residual != nullptr];
  const Shape shape = shape_of(work.layout);
  write<<<shape.grid, shape.block, 0, stream>>>(work);
}

}  // namespace proca::kernels::cuda

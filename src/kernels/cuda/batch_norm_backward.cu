// Batch normalisation backward; see batch_norm.cuh.

#include "kernels/cuda/batch_norm.cuh"

namespace proca::kernels::cuda {
namespace {

// The gradient before ReLU.
template <bool kMask>
__device__ __forceinline__ void apply_relu(const Backward& work, const Affine& affine, const Unit& x,
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
    apply_relu<kMask>(work, affine, x, (at + share.channel) / kUnit, g);
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

// Weight and bias get the gradients of this rank's pixels; the engine adds up those of all ranks.
__global__ void finish_sums(Backward work) {
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
    if (work.totals != nullptr) {  // Coefficients follow from all ranks' totals.
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

__global__ void finish_coefficients(Backward work) {
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
    apply_relu<kMask>(work, affine, x, (at + share.channel) / kUnit, g);
    if (work.residual_gradient != nullptr) store(residual + at, g);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      g.value[i] = fmaf(g.value[i], affine.scale.value[i],
                        fmaf(x.value[i] - mean.value[i], slope.value[i], offset.value[i]));
    }
    store(result + at, g);
  }
}

using Kernel = void (*)(Backward);

Kernel choose(const Backward& work, const Kernel (&kernels)[2][2]) {
  return kernels[work.type == ElementType::kBFloat16][work.mask != nullptr];
}

}  // namespace

void launch_sums(const Backward& work, cudaStream_t stream) {
  constexpr Kernel kKernels[2][2] = {
      {sum_gradients<float, false>, sum_gradients<float, true>},
      {sum_gradients<__nv_bfloat16, false>, sum_gradients<__nv_bfloat16, true>}};
  if (has_pixels(work.layout)) {
    const Shape shape = shape_of(work.layout);
    choose(work, kKernels)<<<shape.grid, shape.block, 0, stream>>>(work);
  }
  finish_sums<<<finish_grid(work.layout), dim3(kTile, kTile), 0, stream>>>(work);
}

void launch_output(const Backward& work, cudaStream_t stream) {
  if (work.totals != nullptr) {
    finish_coefficients<<<channel_grid(work.layout), kThreads, 0, stream>>>(work);
  }
  if (!has_pixels(work.layout)) return;
  constexpr Kernel kKernels[2][2] = {
      {write_gradients<float, false>, write_gradients<float, true>},
      {write_gradients<__nv_bfloat16, false>, write_gradients<__nv_bfloat16, true>}};
  const Shape shape = shape_of(work.layout);
  choose(work, kKernels)<<<shape.grid, shape.block, 0, stream>>>(work);
}

}  // namespace proca::kernels::cuda

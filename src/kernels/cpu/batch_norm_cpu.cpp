// Batch normalisation on the CPU.
//
// Chunks depend on the shape of the activations alone, and their sums are added up in order: the
// result does not depend on threads, nor on the other groups of a batch. One group is finished
// before the next begins, so that the second pass finds it in the cache. Several ranks exchange
// the sums of all groups at once, so there is one pass over all groups first.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/batch_norm_kernels.h"
#include "kernels/cpu/batch_norm_loops.h"
#include "kernels/cpu/batch_norm_pieces.h"

namespace proca::kernels {
namespace {

constexpr int64_t kSamples = 16;  // pixels for a first guess of the means

// A first guess of the means. Sums of differences to it keep their digits where the spread of a
// channel is small beside its mean.
const float* guess_means(Line& line, const float* values, const Piece& piece) {
  const int64_t samples = std::min(kSamples, piece.pixels());
  for (int64_t s = 0; s < samples; ++s) {
    const float* pixel = values + piece.begin + s * piece.pixels() / samples * piece.channels;
    for (int64_t c = 0; c < piece.channels; ++c) {
      line[c] += pixel[c] / static_cast<float>(samples);
    }
  }
  return line.repeated();
}

// A group's count, mean and sum of squared differences to it, by channel.
struct Moments {
  double pixels = 0;
  std::vector<double> means = {}, squares = {};
};

Moments moments_of(const BatchNormInput& input, const Piece& piece) {
  const auto* values = input.values.data_ptr<float>();
  Line guesses(piece);
  const float* centres = guess_means(guesses, values, piece);
  Sums sums(piece);
  piece.for_chunks([&](int64_t chunk, int64_t first, int64_t count) {
    run(MomentsLoop{.values = values + first,
                    .count = count,
                    .centres = centres,
                    .width = piece.width,
                    .sums = sums.first(chunk),
                    .squares = sums.second(chunk)});
  });
  sums.finish();
  Moments moments{.pixels = static_cast<double>(piece.pixels())};
  for (int64_t c = 0; c < piece.channels; ++c) {
    const double offset = sums.first(0)[c] / moments.pixels;
    moments.means.push_back(static_cast<double>(centres[c]) + offset);
    moments.squares.push_back(sums.second(0)[c] - offset * sums.first(0)[c]);
  }
  return moments;
}

// The moments of all ranks' images.
void sum_over_ranks(compute::Ranks& ranks, std::vector<Moments>& groups) {
  const auto channels = static_cast<int64_t>(groups.front().means.size());
  const auto all =
      torch::empty({static_cast<int64_t>(groups.size()), 2 * channels + 1}, torch::kFloat64);
  auto* number = all.data_ptr<double>();
  for (const auto& group : groups) {
    *number++ = group.pixels;
    for (const double mean : group.means) *number++ = mean * group.pixels;
    for (size_t c = 0; c < group.means.size(); ++c) {
      *number++ = group.squares[c] + group.pixels * group.means[c] * group.means[c];
    }
  }
  ranks.sum(all);
  const auto* sum = all.data_ptr<double>();
  for (auto& group : groups) {
    group.pixels = *sum++;
    for (double& mean : group.means) mean = *sum++ / group.pixels;
    for (size_t c = 0; c < group.means.size(); ++c) {
      group.squares[c] = *sum++ - group.pixels * group.means[c] * group.means[c];
    }
  }
}

// Writes a group's statistics and updates the running ones.
void write_statistics(const BatchNormInput& input, const Moments& moments, float* means,
                      float* inv_stds) {
  auto* running_means = input.running_mean.data_ptr<float>();
  auto* running_vars = input.running_var.data_ptr<float>();
  const double pixels = moments.pixels;
  const auto move = [&](float& running, double seen) {
    running = static_cast<float>((1 - input.momentum) * static_cast<double>(running) +
                                 input.momentum * seen);
  };
  for (size_t c = 0; c < moments.means.size(); ++c) {
    const double mean = moments.means[c], squares = moments.squares[c];
    // Rounding may make it negative for a constant channel. NaN stays NaN.
    const double variance = squares < 0 ? 0 : squares / pixels;
    means[c] = static_cast<float>(mean);
    inv_stds[c] = static_cast<float>(1 / std::sqrt(variance + input.epsilon));
    move(running_means[c], mean);
    move(running_vars[c], variance * pixels / (pixels - 1));
  }
}

// y = x * scale + shift is the normalisation of a group.
struct Affine {
  Line scale, shift;
};

Affine affine_of(const BatchNormInput& input, const Piece& piece, const float* means,
                 const float* inv_stds) {
  Affine affine{Line(piece), Line(piece)};
  const auto* weights = input.weight.data_ptr<float>();
  const auto* biases = input.bias.data_ptr<float>();
  for (int64_t c = 0; c < piece.channels; ++c) {
    affine.scale[c] = weights[c] * inv_stds[c];
    affine.shift[c] = biases[c] - means[c] * affine.scale[c];
  }
  return affine;
}

// What the loops of the backward pass read of a group, along a line.
struct GroupLines {
  GroupLines(const BatchNormInput& input, const Piece& piece, const float* group_means,
             const float* inv_stds)
      : mean(piece), affine(affine_of(input, piece, group_means, inv_stds)) {
    std::copy(group_means, group_means + piece.channels, &mean[0]);
    means = mean.repeated();
    scales = affine.scale.repeated();
    shifts = affine.shift.repeated();
  }

  Line mean;
  Affine affine;
  const float *means, *scales, *shifts;
};

torch::MemoryFormat format_of(const torch::Tensor& values) {
  return values.dim() == 4 ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous;
}

torch::Tensor like(const torch::Tensor& values) {
  return torch::empty(values.sizes(), values.options().memory_format(format_of(values)));
}

bool can_run(const BatchNormInput& input) {
  const auto dense = [&](const torch::Tensor& tensor) {
    return tensor.scalar_type() == torch::kFloat32 && tensor.device().is_cpu() &&
           tensor.is_contiguous(format_of(tensor));
  };
  const auto& values = input.values;
  const int64_t used =
      std::accumulate(input.group_sizes.begin(), input.group_sizes.end(), int64_t{0});
  if (used != values.size(0)) return false;  // Padding is used on GPUs.
  if (std::find(input.group_sizes.begin(), input.group_sizes.end(), 0) != input.group_sizes.end()) {
    return false;  // Shares of ranks.
  }
  return (values.dim() == 2 || values.dim() == 4) && dense(values) && values.numel() > 0 &&
         (!input.residual.defined() ||
          (dense(input.residual) && input.residual.sizes() == values.sizes())) &&
         dense(input.weight) && dense(input.bias) && dense(input.running_mean) &&
         dense(input.running_var);
}

BatchNormResult forward(const BatchNormInput& input) {
  const auto pieces = pieces_of(input);
  const auto statistics = [&] {
    return torch::empty({static_cast<int64_t>(pieces.size()), input.values.size(1)});
  };
  BatchNormResult result{like(input.values), statistics(), statistics(), {}, {}};
  const auto* values = input.values.data_ptr<float>();
  const auto* residuals = input.residual.defined() ? input.residual.data_ptr<float>() : nullptr;
  auto* outputs = result.output.data_ptr<float>();
  auto* means = result.mean.data_ptr<float>();
  auto* inv_stds = result.inv_std.data_ptr<float>();
  std::vector<Moments> shared;
  if (input.ranks != nullptr) {
    for (const auto& piece : pieces) shared.push_back(moments_of(input, piece));
    sum_over_ranks(*input.ranks, shared);
    result.pixels = torch::empty({static_cast<int64_t>(pieces.size())}, torch::kFloat64);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = pieces[i];
    write_statistics(input, shared.empty() ? moments_of(input, piece) : shared[i], means, inv_stds);
    if (!shared.empty()) result.pixels.data_ptr<double>()[i] = shared[i].pixels;
    auto affine = affine_of(input, piece, means, inv_stds);
    const float *scales = affine.scale.repeated(), *shifts = affine.shift.repeated();
    piece.for_chunks([&](int64_t, int64_t first, int64_t count) {
      run(NormaliseLoop{.values = values + first,
                        .residuals = residuals == nullptr ? nullptr : residuals + first,
                        .outputs = outputs + first,
                        .count = count,
                        .scales = scales,
                        .shifts = shifts,
                        .width = piece.width,
                        .relu = input.relu});
    });
    means += piece.channels;
    inv_stds += piece.channels;
  }
  input.num_batches_tracked.add_(static_cast<int64_t>(pieces.size()));
  return result;
}

// With g the gradient before ReLU, n pixels, x^ = (x - mean) / std:
//     dx = weight / std * (g - mean(g) - x^ mean(g x^)).
class Backward {
 public:
  Backward(const torch::Tensor& output_gradient, const BatchNormInput& input,
           const BatchNormResult& result)
      : output_gradient_(output_gradient),
        input_(input),
        result_(result),
        // What ReLU let pass behind a residual addition is not known from the values alone. But
        // the residual has just that gradient, so it is computed once and read again.
        keeps_gradient_(input.residual.defined() && input.relu),
        pieces_(pieces_of(input)),
        sums_(torch::empty({static_cast<int64_t>(pieces_.size()), 2, channels()}, torch::kFloat64)),
        gradients_{like(input.values), input.residual.defined() ? output_gradient : torch::Tensor(),
                   torch::zeros_like(input.weight), torch::zeros_like(input.bias)} {
    if (keeps_gradient_) gradients_.residual = like(input.values);
  }

  BatchNormGradients run_all() {
    if (input_.ranks != nullptr) {
      for (size_t i = 0; i < pieces_.size(); ++i) sum_up(i);
      input_.ranks->sum(sums_);
    }
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (input_.ranks == nullptr) sum_up(i);
      write_input_gradient(i);
    }
    return gradients_;
  }

 private:
  int64_t channels() const { return input_.values.size(1); }
  const float* means(size_t i) const { return result_.mean.data_ptr<float>() + i * channels(); }
  const float* inv_stds(size_t i) const {
    return result_.inv_std.data_ptr<float>() + i * channels();
  }
  // A group's sums of gradients, then of their products with x^.
  double* totals(size_t i) { return sums_.data_ptr<double>() + i * 2 * channels(); }

  void sum_up(size_t i) {
    const auto& piece = pieces_[i];
    const GroupLines lines(input_, piece, means(i), inv_stds(i));
    const auto* dy = output_gradient_.data_ptr<float>();
    const auto* values = input_.values.data_ptr<float>();
    const auto* outputs = keeps_gradient_ ? result_.output.data_ptr<float>() : nullptr;
    auto* kept = keeps_gradient_ ? gradients_.residual.data_ptr<float>() : nullptr;
    const auto relu = keeps_gradient_ ? ReluMask::kFromOutput
                      : input_.relu   ? ReluMask::kRecomputed
                                      : ReluMask::kNone;
    Sums sums(piece);
    piece.for_chunks([&](int64_t chunk, int64_t first, int64_t count) {
      run(GradientSumsLoop{.gradients = dy + first,
                           .values = values + first,
                           .count = count,
                           .means = lines.means,
                           .width = piece.width,
                           .relu = relu,
                           .scales = lines.scales,
                           .shifts = lines.shifts,
                           .outputs = keeps_gradient_ ? outputs + first : nullptr,
                           .kept = keeps_gradient_ ? kept + first : nullptr,
                           .sums = sums.first(chunk),
                           .products = sums.second(chunk)});
    });
    sums.finish();
    for (int64_t c = 0; c < channels(); ++c) {
      totals(i)[c] = sums.first(0)[c];
      totals(i)[channels() + c] = sums.second(0)[c] * inv_stds(i)[c];
      gradients_.bias.data_ptr<float>()[c] += static_cast<float>(totals(i)[c]);
      gradients_.weight.data_ptr<float>()[c] += static_cast<float>(totals(i)[channels() + c]);
    }
  }

  void write_input_gradient(size_t i) {
    const auto& piece = pieces_[i];
    const GroupLines lines(input_, piece, means(i), inv_stds(i));
    const auto pixels = input_.ranks != nullptr ? result_.pixels.data_ptr<double>()[i]
                                                : static_cast<double>(piece.pixels());
    const auto* weights = input_.weight.data_ptr<float>();
    Line slope(piece), offset(piece);
    for (int64_t c = 0; c < channels(); ++c) {
      const double inv_std = inv_stds(i)[c], scale = weights[c] * inv_std;
      slope[c] = static_cast<float>(-scale * inv_std * totals(i)[channels() + c] / pixels);
      offset[c] = static_cast<float>(-scale * totals(i)[c] / pixels);
    }
    const float *slopes = slope.repeated(), *offsets = offset.repeated();
    const auto* gradients =
        (keeps_gradient_ ? gradients_.residual : output_gradient_).data_ptr<float>();
    const auto* values = input_.values.data_ptr<float>();
    auto* dx = gradients_.values.data_ptr<float>();
    piece.for_chunks([&](int64_t, int64_t first, int64_t count) {
      run(InputGradientLoop{
          .gradients = gradients + first,
          .values = values + first,
          .input_gradients = dx + first,
          .count = count,
          .means = lines.means,
          .scales = lines.scales,
          .slopes = slopes,
          .offsets = offsets,
          .width = piece.width,
          .relu = input_.relu && !keeps_gradient_ ? ReluMask::kRecomputed : ReluMask::kNone,
          .shifts = lines.shifts});
    });
  }

  const torch::Tensor& output_gradient_;
  const BatchNormInput& input_;
  const BatchNormResult& result_;
  bool keeps_gradient_;
  std::vector<Piece> pieces_;
  torch::Tensor sums_;  // double [groups, 2, C]
  BatchNormGradients gradients_;
};

BatchNormGradients backward(const torch::Tensor& output_gradient, const BatchNormInput& input,
                            const BatchNormResult& result) {
  return Backward(output_gradient, input, result).run_all();
}

}  // namespace

const BatchNormKernels& cpu_batch_norm_kernels() {
  static constexpr BatchNormKernels kKernels = {can_run, forward, backward};
  return kKernels;
}

}  // namespace proca::kernels

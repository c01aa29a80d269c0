// Batch normalisation on the CPU.
//
// Work is cut into chunks by the shape of the activations alone, sums are added up in the
// order of the chunks: neither the number of threads nor their timing, nor the other
// groups of a batch change a single bit. One group is finished before the next begins, so
// that the second pass over it finds it in the cache; with other ranks, who want to be asked
// about all groups at once, there is one pass over all for the sums.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <c10/util/FunctionRef.h>

#include "kernels/batch_norm_kernels.h"
#include "kernels/cpu/batch_norm_loops.h"
#include "kernels/in_parallel.h"

namespace proca::kernels {
namespace {

constexpr int64_t kChunk = int64_t{1} << 15;  // numbers that one task works on
constexpr int64_t kMinWidth = 128;            // of the lines of the inner loops
constexpr int64_t kVector = 8;                // numbers the inner loops do at once
constexpr int64_t kSamples = 16;              // pixels for a first guess of the means

// A group's part of the activations, in numbers, and how it is cut.
struct Piece {
  int64_t begin = 0, count = 0;
  int64_t channels = 0;
  int64_t width = 0;  // of a line: whole pixels and whole vectors
  int64_t chunk = 0;  // whole lines

  int64_t pixels() const { return count / channels; }
  int64_t num_chunks() const { return (count + chunk - 1) / chunk; }

  // Calls work(number of the chunk, its first number, how many).
  void for_chunks(c10::function_ref<void(int64_t, int64_t, int64_t)> work) const {
    in_parallel(num_chunks(),
                [&](int64_t i) { work(i, begin + i * chunk, std::min(chunk, count - i * chunk)); });
  }
};

std::vector<Piece> pieces_of(const BatchNormInput& input) {
  const int64_t channels = input.values.size(1);
  const int64_t least = std::lcm(channels, kVector);
  const int64_t width = (kMinWidth + least - 1) / least * least;
  const int64_t chunk = std::max(width, kChunk / width * width);
  const int64_t image = input.values.numel() / input.values.size(0);
  std::vector<Piece> pieces;
  int64_t begin = 0;
  for (const int64_t size : input.group_sizes) {
    pieces.push_back({begin, size * image, channels, width, chunk});
    begin += size * image;
  }
  return pieces;
}

// Numbers of channels, repeated along a line.
class Line {
 public:
  explicit Line(const Piece& piece)
      : channels_(piece.channels), numbers_(static_cast<size_t>(piece.width)) {}

  float& operator[](int64_t channel) { return numbers_[static_cast<size_t>(channel)]; }
  // To be called when every channel has its number.
  const float* repeated() {
    for (size_t i = static_cast<size_t>(channels_); i < numbers_.size(); ++i) {
      numbers_[i] = numbers_[i - static_cast<size_t>(channels_)];
    }
    return numbers_.data();
  }

 private:
  int64_t channels_;
  std::vector<float> numbers_;
};

// Two sums for each channel, of which every chunk has its own line.
class Sums {
 public:
  explicit Sums(const Piece& piece)
      : piece_(piece), lines_(static_cast<size_t>(2 * piece.num_chunks() * piece.width)) {}

  double* first(int64_t chunk) { return lines_.data() + 2 * chunk * piece_.width; }
  double* second(int64_t chunk) { return first(chunk) + piece_.width; }

  // Adds up the chunks, then the pixels of a line; the results are in chunk 0.
  void finish() {
    const int64_t size = 2 * piece_.width;
    for (int64_t chunk = 1; chunk < piece_.num_chunks(); ++chunk) {
      const double* line = first(chunk);
      for (int64_t i = 0; i < size; ++i) lines_[static_cast<size_t>(i)] += line[i];
    }
    for (double* line : {first(0), second(0)}) {
      for (int64_t i = piece_.channels; i < piece_.width; ++i) line[i % piece_.channels] += line[i];
    }
  }

 private:
  const Piece& piece_;
  std::vector<double> lines_;
};

// Near the means; sums of differences to these keep their digits where the spread of a
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

// Those of all ranks' images, group by group.
void share(compute::Ranks& ranks, std::vector<Moments>& groups) {
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

// Fills a group's rows of the result's statistics and moves the running ones.
void use(const BatchNormInput& input, const Moments& moments, float* means, float* inv_stds) {
  auto* running_means = input.running_mean.data_ptr<float>();
  auto* running_vars = input.running_var.data_ptr<float>();
  const double pixels = moments.pixels;
  const auto move = [&](float& running, double seen) {
    running = static_cast<float>((1 - input.momentum) * static_cast<double>(running) +
                                 input.momentum * seen);
  };
  for (size_t c = 0; c < moments.means.size(); ++c) {
    const double mean = moments.means[c], squares = moments.squares[c];
    // Rounding may leave something below zero of a channel without any spread. The
    // comparison is this way round for what is not a number to stay so.
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

// What the loops of the way back read of a group, along a line.
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
  if (used != values.size(0)) return false;  // Padding is for GPUs.
  if (std::find(input.group_sizes.begin(), input.group_sizes.end(), 0) != input.group_sizes.end()) {
    return false;  // Only where ranks have shares.
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
    share(*input.ranks, shared);
    result.pixels = torch::empty({static_cast<int64_t>(pieces.size())}, torch::kFloat64);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = pieces[i];
    use(input, shared.empty() ? moments_of(input, piece) : shared[i], means, inv_stds);
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

// With g the gradient behind the rectifier, n pixels, x^ = (x - mean) / std:
//     dx = weight / std * (g - mean(g) - x^ mean(g x^)).
BatchNormGradients backward(const torch::Tensor& output_gradient, const BatchNormInput& input,
                            const BatchNormResult& result) {
  const auto pieces = pieces_of(input);
  BatchNormGradients gradients{
      like(input.values), {}, torch::zeros_like(input.weight), torch::zeros_like(input.bias)};
  const auto* dy = output_gradient.data_ptr<float>();
  const auto* values = input.values.data_ptr<float>();
  const auto* weights = input.weight.data_ptr<float>();
  const auto* means = result.mean.data_ptr<float>();
  const auto* inv_stds = result.inv_std.data_ptr<float>();
  auto* dx = gradients.values.data_ptr<float>();

  // What a residual block let through is not known from the values alone. But its
  // shortcut has just that gradient, so that it is found once and read again.
  const bool both = input.residual.defined() && input.relu;
  if (input.residual.defined()) {
    gradients.residual = both ? like(input.values) : output_gradient;
  }
  const auto* outputs = both ? result.output.data_ptr<float>() : nullptr;
  auto* rectified = both ? gradients.residual.data_ptr<float>() : nullptr;
  const auto rectifier = both         ? Rectifier::kFromOutput
                         : input.relu ? Rectifier::kRecomputed
                                      : Rectifier::kNone;
  // Two sums for every channel of every group: of gradients, and of their products with x^.
  const auto channels = input.values.size(1);
  const auto all =
      torch::empty({static_cast<int64_t>(pieces.size()), 2, channels}, torch::kFloat64);
  const auto sum_up = [&](size_t i) {
    const auto& piece = pieces[i];
    GroupLines lines(input, piece, means + i * channels, inv_stds + i * channels);
    Sums sums(piece);
    piece.for_chunks([&](int64_t chunk, int64_t first, int64_t count) {
      run(GradientSumsLoop{.gradients = dy + first,
                           .values = values + first,
                           .count = count,
                           .means = lines.means,
                           .width = piece.width,
                           .rectifier = rectifier,
                           .scales = lines.scales,
                           .shifts = lines.shifts,
                           .outputs = both ? outputs + first : nullptr,
                           .rectified = both ? rectified + first : nullptr,
                           .sums = sums.first(chunk),
                           .products = sums.second(chunk)});
    });
    sums.finish();
    double* totals = all.data_ptr<double>() + i * 2 * channels;
    for (int64_t c = 0; c < channels; ++c) {
      totals[c] = sums.first(0)[c];
      totals[channels + c] = sums.second(0)[c] * inv_stds[i * channels + c];
      gradients.bias.data_ptr<float>()[c] += static_cast<float>(totals[c]);
      gradients.weight.data_ptr<float>()[c] += static_cast<float>(totals[channels + c]);
    }
  };
  if (input.ranks != nullptr) {
    for (size_t i = 0; i < pieces.size(); ++i) sum_up(i);
    input.ranks->sum(all);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (input.ranks == nullptr) sum_up(i);
    const auto& piece = pieces[i];
    GroupLines lines(input, piece, means + i * channels, inv_stds + i * channels);
    const double* totals = all.data_ptr<double>() + i * 2 * channels;
    const auto pixels = input.ranks != nullptr ? result.pixels.data_ptr<double>()[i]
                                               : static_cast<double>(piece.pixels());
    Line slope(piece), offset(piece);
    for (int64_t c = 0; c < channels; ++c) {
      const double inv_std = inv_stds[i * channels + c], scale = weights[c] * inv_std;
      slope[c] = static_cast<float>(-scale * inv_std * totals[channels + c] / pixels);
      offset[c] = static_cast<float>(-scale * totals[c] / pixels);
    }
    const float *slopes = slope.repeated(), *offsets = offset.repeated();
    piece.for_chunks([&](int64_t, int64_t first, int64_t count) {
      run(InputGradientLoop{.gradients = (both ? rectified : dy) + first,
                            .values = values + first,
                            .input_gradients = dx + first,
                            .count = count,
                            .means = lines.means,
                            .scales = lines.scales,
                            .slopes = slopes,
                            .offsets = offsets,
                            .width = piece.width,
                            .rectifier = both ? Rectifier::kNone : rectifier,
                            .shifts = lines.shifts});
    });
  }
  return gradients;
}

}  // namespace

const BatchNormKernels& cpu_batch_norm_kernels() {
  static constexpr BatchNormKernels kKernels = {can_run, forward, backward};
  return kKernels;
}

}  // namespace proca::kernels

#include "adaptation/herding.h"

#include "adaptation/host_doubles.h"

namespace proca::adaptation {
namespace {

// Squared distances that differ by less than this share are equal but for rounding, such
// as those of the two images of a class to their mean.
constexpr double kEqualDistance = 1e-9;

}  // namespace

std::vector<int64_t> herd(const torch::Tensor& features, int64_t count,
                          const HerdingOptions& options) {
  TORCH_CHECK(count >= 0, "herd: cannot choose ", count, " images");
  auto points = host_doubles(features, "features");
  if (options.features == HerdingOptions::Features::kUnit) points = unit_rows(points);
  const int64_t num_images = points.size(0);
  if (num_images == 0) return {};
  const int64_t size = points.size(1);
  const auto mean_tensor = points.mean(0).contiguous();
  const double* mean = mean_tensor.data_ptr<double>();
  const double* rows = points.data_ptr<double>();

  // || f - (g(x) + s) / m ||  is  || (m f - s) - g(x) || / m,  s the sum of those
  // chosen; `wanted` is m f - s.
  std::vector<double> wanted(mean, mean + size);
  std::vector<int64_t> uses(static_cast<size_t>(num_images), 0);
  std::vector<int64_t> chosen;
  for (int64_t number = 0; number < count; ++number) {
    const int64_t most_uses =
        options.repeats == HerdingOptions::Repeats::kAllowed ? number : number / num_images;
    int64_t best = -1;
    double best_distance = 0;
    for (int64_t image = 0; image < num_images; ++image) {
      if (uses[static_cast<size_t>(image)] > most_uses) continue;
      const double distance = squared_distance(rows + image * size, wanted.data(), size);
      if (best < 0 || distance < best_distance * (1 - kEqualDistance)) {
        best = image;
        best_distance = distance;
      }
    }
    chosen.push_back(best);
    ++uses[static_cast<size_t>(best)];
    const double* row = rows + best * size;
    for (int64_t i = 0; i < size; ++i) wanted[static_cast<size_t>(i)] += mean[i] - row[i];
  }
  return chosen;
}

}  // namespace proca::adaptation

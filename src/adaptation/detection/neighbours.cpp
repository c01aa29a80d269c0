#include "adaptation/detection/neighbours.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "adaptation/host_doubles.h"

namespace proca::adaptation {
namespace {

constexpr int64_t kMostCandidates = 20'000;
// Cosines of this many images with all candidates are held at once.
constexpr int64_t kRowsAtOnce = 512;

/// `kMostCandidates` of 0 ... count - 1, evenly spread; all if there are fewer.
std::vector<int64_t> spread_candidates(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(std::min(count, kMostCandidates)));
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int64_t>(i) * count / static_cast<int64_t>(ids.size());
  }
  return ids;
}

}  // namespace

torch::Tensor nearest_neighbours(const torch::Tensor& features, int64_t count) {
  const auto units = unit_rows(host_doubles(features, "features"));
  const int64_t num_images = units.size(0);
  const auto candidates = spread_candidates(num_images);
  const int64_t num_nearest =
      std::clamp<int64_t>(static_cast<int64_t>(candidates.size()) - 1, 0, count);
  auto result = torch::empty({num_images, num_nearest}, torch::kInt64);
  if (num_nearest == 0) return result;

  const auto others =
      units.index_select(0, torch::tensor(candidates, torch::kInt64)).t().contiguous();
  std::vector<size_t> order(candidates.size());
  auto* place = result.data_ptr<int64_t>();
  for (int64_t begin = 0; begin < num_images; begin += kRowsAtOnce) {
    const auto cosines = units.slice(0, begin, begin + kRowsAtOnce).matmul(others);
    for (int64_t row = 0; row < cosines.size(0); ++row) {
      const auto* cosine = cosines.data_ptr<double>() + row * cosines.size(1);
      const int64_t image = begin + row;
      const auto is_nearer = [&](size_t a, size_t b) {
        // The image itself comes last, whatever rounding makes of its cosine.
        if ((candidates[a] == image) != (candidates[b] == image)) return candidates[b] == image;
        return cosine[a] != cosine[b] ? cosine[a] > cosine[b] : a < b;
      };
      std::iota(order.begin(), order.end(), size_t{0});
      std::partial_sort(order.begin(), order.begin() + num_nearest, order.end(), is_nearer);
      for (int64_t i = 0; i < num_nearest; ++i) {
        *place++ = candidates[order[static_cast<size_t>(i)]];
      }
    }
  }
  return result;
}

torch::Tensor average_with(const torch::Tensor& neighbours, const torch::Tensor& values) {
  TORCH_CHECK(values.dim() == 2 && neighbours.dim() == 2 && neighbours.size(0) == values.size(0),
              "average_with: neighbours ", neighbours.sizes(), " and values ", values.sizes());
  auto sums = values.clone();
  for (int64_t i = 0; i < neighbours.size(1); ++i) {
    sums += values.index_select(0, neighbours.select(1, i).contiguous());
  }
  return sums / static_cast<double>(neighbours.size(1) + 1);
}

}  // namespace proca::adaptation

#include "proca/compute/ranks.h"

#include <numeric>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

namespace proca::compute {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// This rank's rows of each group.
std::vector<Share> shares_of(const Ranks& ranks, at::IntArrayRef group_sizes) {
  std::vector<Share> shares;
  int64_t begin = 0;
  for (const int64_t size : group_sizes) {
    auto share = ranks.share_of(size);
    share.first += begin;
    shares.push_back(share);
    begin += size;
  }
  return shares;
}

torch::Tensor rows_of(const torch::Tensor& all, const std::vector<Share>& shares) {
  std::vector<torch::Tensor> parts;
  for (const auto& share : shares) parts.push_back(all.narrow(0, share.first, share.count));
  return parts.size() == 1 ? parts.front() : torch::cat(parts);
}

// Every rank computes the same losses of all rows, so the gradient of this rank's rows is
// complete without communication.
class Gather : public torch::autograd::Function<Gather> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& mine, Ranks* ranks,
                               std::vector<int64_t> group_sizes) {
    const int64_t count = std::accumulate(group_sizes.begin(), group_sizes.end(), int64_t{0});
    const auto all = torch::zeros({count, mine.size(1)}, mine.options());
    int64_t done = 0;
    std::vector<int64_t> places;
    for (const auto& share : shares_of(*ranks, group_sizes)) {
      all.narrow(0, share.first, share.count).copy_(mine.narrow(0, done, share.count));
      done += share.count;
      places.insert(places.end(), {share.first, share.count});
    }
    ranks->complete(all);
    context->saved_data["places"] = places;
    return all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto places = context->saved_data["places"].toIntVector();
    std::vector<Share> shares;
    for (size_t i = 0; i < places.size(); i += 2) shares.push_back({places[i], places[i + 1]});
    return {rows_of(gradients[0], shares), {}, {}};
  }
};

}  // namespace

Share Ranks::share_of(int64_t count) const {
  const int64_t first = count * rank() / size();
  return {first, count * (rank() + 1) / size() - first};
}

torch::Tensor compute_shared(
    Ranks& ranks, const torch::Tensor& images, at::IntArrayRef group_sizes,
    const std::function<torch::Tensor(const torch::Tensor& images, at::IntArrayRef group_sizes)>&
        compute) {
  const auto shares = shares_of(ranks, group_sizes);
  std::vector<int64_t> sizes;
  for (const auto& share : shares) sizes.push_back(share.count);
  const int64_t count = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  auto mine = count > 0 ? rows_of(images, shares) : torch::zeros_like(images.narrow(0, 0, 1));
  mine = mine.contiguous(torch::MemoryFormat::ChannelsLast);
  const auto features = compute(mine, sizes).to(torch::kFloat32).narrow(0, 0, count);
  return Gather::apply(features, &ranks, group_sizes.vec());
}

}  // namespace proca::compute

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "proca/compute/ranks.h"

namespace proca::distributed {

/// Sums the gradients of a backbone's weights over all ranks during the backward pass:
/// weights are put into buckets in the order in which their gradients come, from the last
/// layer to the first, and a bucket is sent as soon as it is full.
class GradientExchange {
 public:
  /// Size of a bucket: large enough for the network's bandwidth, small enough that the first
  /// one is sent early in the backward pass.
  static constexpr int64_t kBucketBytes = int64_t{4} << 20;

  /// `weights` in the order of the forward pass.
  GradientExchange(std::vector<torch::Tensor> weights, std::shared_ptr<compute::Ranks> ranks);
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  /// Before the backward pass.
  void begin();
  /// After it: makes `grad()` of every weight that has one the sum over all ranks.
  void finish();

  /// Stops if any rank was asked to. Waits for a GPU.
  void agree() const;

  int64_t num_buckets() const { return static_cast<int64_t>(buckets_.size()); }

 private:
  struct Weight {
    torch::Tensor weight;
    size_t bucket = 0;
    int64_t offset = 0;  // in the bucket
    bool has_come = false;
    unsigned hook = 0;
  };
  struct Bucket {
    torch::Tensor values;  // one number for a stop that was asked for, then gradients
    int64_t expected = 0, come = 0;
    std::unique_ptr<compute::Ranks::Pending> sum;
  };

  void take(size_t number, const torch::Tensor& gradient);
  void send_full_ones();
  torch::Tensor place_of(const Weight& weight) const;

  std::vector<Weight> weights_;
  std::shared_ptr<compute::Ranks> ranks_;
  std::vector<Bucket> buckets_;
  size_t num_sent_ = 0;
  bool is_on_ = false;
};

}  // namespace proca::distributed

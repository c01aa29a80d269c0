#include "distributed/gradient_exchange.h"

#include <algorithm>

#include "proca/core/interrupt.h"

namespace proca::distributed {

GradientExchange::GradientExchange(std::vector<torch::Tensor> weights,
                                   std::shared_ptr<compute::Ranks> ranks)
    : ranks_(std::move(ranks)) {
  TORCH_CHECK(!weights.empty(), "there are no weights");
  std::reverse(weights.begin(), weights.end());
  std::vector<int64_t> sizes;
  for (auto& weight : weights) {
    const auto bytes = weight.element_size();
    if (sizes.empty() || sizes.back() * static_cast<int64_t>(bytes) >= kBucketBytes) {
      sizes.push_back(1);
      buckets_.emplace_back();
    }
    ++buckets_.back().expected;
    weights_.push_back({.weight = weight, .bucket = buckets_.size() - 1, .offset = sizes.back()});
    sizes.back() += weight.numel();
  }
  for (size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i].values = torch::zeros({sizes[i]}, weights.front().options().requires_grad(false));
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    // Called once per backward pass, with the gradient of all uses of the weight.
    weights_[i].hook = weights_[i].weight.register_hook(
        [this, i](const torch::Tensor& gradient) { take(i, gradient); });
  }
}

GradientExchange::~GradientExchange() {
  for (auto& entry : weights_) entry.weight.remove_hook(entry.hook);
}

// With the strides of the weight: the optimiser goes over both in the same order.
torch::Tensor GradientExchange::place_of(const Weight& entry) const {
  return buckets_[entry.bucket].values.as_strided(entry.weight.sizes(), entry.weight.strides(),
                                                  entry.offset);
}

void GradientExchange::begin() {
  for (auto& entry : weights_) entry.has_come = false;
  for (auto& bucket : buckets_) {
    bucket.come = 0;
    bucket.values.zero_();
  }
  num_sent_ = 0;
  is_on_ = true;
}

void GradientExchange::take(size_t number, const torch::Tensor& gradient) {
  if (!is_on_) return;
  const torch::NoGradGuard no_grad;
  auto& entry = weights_[number];
  place_of(entry).copy_(gradient);
  entry.has_come = true;
  ++buckets_[entry.bucket].come;
  send_full_ones();
}

// In the order of the buckets, not that in which they fill up: it must be the same on all
// ranks.
void GradientExchange::send_full_ones() {
  while (num_sent_ + 1 < buckets_.size() &&
         buckets_[num_sent_].come == buckets_[num_sent_].expected) {
    buckets_[num_sent_].sum = ranks_->begin_sum(buckets_[num_sent_].values);
    ++num_sent_;
  }
}

void GradientExchange::finish() {
  is_on_ = false;
  const torch::NoGradGuard no_grad;
  // Weights without a gradient keep a bucket from filling up; they are the same on all ranks.
  // The last bucket is always sent here, with the request to stop, if there is one.
  const bool asked = is_stop_requested();
  for (; num_sent_ < buckets_.size(); ++num_sent_) {
    auto& bucket = buckets_[num_sent_];
    if (num_sent_ + 1 == buckets_.size()) bucket.values[0].fill_(asked ? 1.0 : 0.0);
    bucket.sum = ranks_->begin_sum(bucket.values);
  }
  for (auto& bucket : buckets_) bucket.sum->wait();
  for (auto& entry : weights_) {
    if (entry.has_come) entry.weight.mutable_grad() = place_of(entry);
  }
  if (buckets_.back().values.is_cpu()) agree();
}

void GradientExchange::agree() const {
  if (buckets_.back().values[0].item<float>() > 0) agree_to_stop();
}

}  // namespace proca::distributed

#include "distributed/gradient_exchange.h"

#include <gtest/gtest.h>

#include "support/thread_ranks.h"

namespace proca::distributed {
namespace {

// w = (1, 2): every rank's gradient is its number plus one, so 1 + 2 + 3 on three ranks.
TEST(GradientExchange, AddsUpOverRanks) {
  test::run_ranks(3, [](const auto& ranks) {
    auto weight = torch::tensor({1.0F, 2.0F}).requires_grad_();
    GradientExchange exchange({weight}, ranks);
    for (int repeat = 0; repeat < 2; ++repeat) {
      weight.mutable_grad() = torch::Tensor();
      exchange.begin();
      (weight * static_cast<double>(ranks->rank() + 1)).sum().backward();
      exchange.finish();
      EXPECT_TRUE(torch::equal(weight.grad(), torch::tensor({6.0F, 6.0F})));
    }
  });
}

TEST(GradientExchange, ManyWeightsFillSeveralBuckets) {
  constexpr int64_t kSize = GradientExchange::kBucketBytes / sizeof(float) / 2 + 7;
  test::run_ranks(2, [](const auto& ranks) {
    std::vector<torch::Tensor> weights;
    for (int i = 0; i < 5; ++i) weights.push_back(torch::ones({kSize}).requires_grad_());
    GradientExchange exchange(weights, ranks);
    EXPECT_GT(exchange.num_buckets(), 1);
    exchange.begin();
    torch::Tensor total = torch::zeros({});
    for (size_t i = 0; i < weights.size(); ++i) {
      total = total + (weights[i] * static_cast<double>(i + 1)).sum();
    }
    total.backward();
    exchange.finish();
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_TRUE(
          torch::equal(weights[i].grad(), torch::full({kSize}, 2.0 * static_cast<double>(i + 1))));
    }
  });
}

TEST(GradientExchange, WeightsThatWereNotUsedHaveNoGradient) {
  test::run_ranks(2, [](const auto& ranks) {
    auto used = torch::ones({3}).requires_grad_(), idle = torch::ones({3}).requires_grad_();
    GradientExchange exchange({used, idle}, ranks);
    exchange.begin();
    used.sum().backward();
    exchange.finish();
    EXPECT_FALSE(idle.grad().defined());
    EXPECT_TRUE(torch::equal(used.grad(), torch::full({3}, 2.0)));
  });
}

TEST(GradientExchange, KeepsAWeightsLayout) {
  test::run_ranks(2, [](const auto& ranks) {
    auto weight = torch::ones({4, 3, 2, 2}).contiguous(torch::MemoryFormat::ChannelsLast);
    weight.requires_grad_();
    const auto factor = torch::arange(48, torch::kFloat32).view({4, 3, 2, 2});
    GradientExchange exchange({weight}, ranks);
    exchange.begin();
    (weight * factor).sum().backward();
    exchange.finish();
    EXPECT_EQ(weight.grad().strides(), weight.strides());
    EXPECT_TRUE(torch::equal(weight.grad(), factor * 2));
  });
}

TEST(GradientExchange, LeavesGradientsAloneOutsideOfIt) {
  test::run_ranks(2, [](const auto& ranks) {
    auto weight = torch::ones({2}).requires_grad_();
    const GradientExchange exchange({weight}, ranks);
    (weight * static_cast<double>(ranks->rank() + 1)).sum().backward();
    EXPECT_EQ(weight.grad()[0].template item<float>(), static_cast<float>(ranks->rank() + 1));
  });
}

}  // namespace
}  // namespace proca::distributed

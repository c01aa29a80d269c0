#include "proca/compute/ranks.h"

#include <gtest/gtest.h>

#include "kernels/batch_norm.h"
#include "models/nets/resnet.h"
#include "support/thread_ranks.h"

namespace proca::compute {
namespace {

using test::run_ranks;

torch::Tensor numbers(at::IntArrayRef sizes, uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return torch::empty(sizes).normal_(0.0, 1.0, generator);
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a.detach().to(torch::kFloat64) - b.detach().to(torch::kFloat64))
      .abs()
      .max()
      .item<double>();
}

TEST(Ranks, SharesCoverAllRowsOnce) {
  for (const int64_t size : {1, 2, 3, 4, 7}) {
    for (const int64_t count : {0, 1, 2, 5, 32}) {
      std::vector<Share> shares(static_cast<size_t>(size));
      run_ranks(size, [&](const auto& ranks) {
        shares[static_cast<size_t>(ranks->rank())] = ranks->share_of(count);
      });
      int64_t next = 0;
      for (const auto& share : shares) {
        EXPECT_EQ(share.first, next);
        EXPECT_LE(share.count, count / size + 1);
        next += share.count;
      }
      EXPECT_EQ(next, count);
    }
  }
}

// Both groups' rows times two, on three ranks: 5 rows are shares of 1, 2 and 2; 2 rows of
// 0, 1 and 1.
TEST(Ranks, ComputedInSharesAndGatheredInOrder) {
  const auto images = torch::arange(7 * 4, torch::kFloat32).view({7, 1, 2, 2});
  run_ranks(3, [&](const auto& ranks) {
    const auto mine = images.clone().requires_grad_();
    const auto result =
        compute_shared(*ranks, mine, {5, 2}, [&](const torch::Tensor& part, at::IntArrayRef sizes) {
          EXPECT_EQ(sizes[0], ranks->rank() == 0 ? 1 : 2);
          EXPECT_EQ(sizes[1], ranks->rank() == 0 ? 0 : 1);
          return part.flatten(1) * 2;
        });
    EXPECT_TRUE(torch::equal(result, images.flatten(1) * 2));
    // The gradient of a rank's own rows, and nothing else.
    (result * result.detach()).sum().backward();
    const auto share = ranks->share_of(5);
    const auto expected = images * 4;
    EXPECT_TRUE(torch::equal(mine.grad().narrow(0, share.first, share.count),
                             expected.narrow(0, share.first, share.count)));
    EXPECT_NE(mine.grad().abs().sum().template item<float>(),
              expected.abs().sum().template item<float>());
  });
}

TEST(Ranks, ARankWithoutImagesGetsPadding) {
  const auto images = numbers({1, 3, 4, 4}, 1);
  run_ranks(2, [&](const auto& ranks) {
    const auto result =
        compute_shared(*ranks, images, {1}, [&](const torch::Tensor& part, at::IntArrayRef sizes) {
          EXPECT_EQ(part.size(0), 1);
          EXPECT_EQ(sizes[0], ranks->rank());  // Rank 1 has the image.
          return part.flatten(1);
        });
    EXPECT_TRUE(torch::equal(result, images.flatten(1)));
  });
}

// What a layer does to a batch of groups, alone or on several ranks.
struct Outcome {
  torch::Tensor output, input_gradient, residual_gradient, weight, bias, mean, variance;
};

Outcome run_layer(const torch::Tensor& images, const torch::Tensor& residual, at::IntArrayRef sizes,
                  const torch::Tensor& direction, const std::shared_ptr<Ranks>& ranks) {
  kernels::BatchNorm layer(images.size(1));
  const torch::NoGradGuard no_grad;
  layer->weight.copy_(numbers({images.size(1)}, 7));
  layer->bias.copy_(numbers({images.size(1)}, 8));
  layer->share(ranks);
  const torch::AutoGradMode with_gradients(true);
  const auto input = images.clone().requires_grad_(), added = residual.clone().requires_grad_();
  const auto output = layer->forward(input, sizes, {.relu = true, .residual = added});
  (output * direction).sum().backward();
  return {output.detach(),    input.grad(),        added.grad(),      layer->weight.grad(),
          layer->bias.grad(), layer->running_mean, layer->running_var};
}

void expect_as_alone(at::IntArrayRef sizes, int64_t num_ranks) {
  int64_t count = 0;
  for (const int64_t size : sizes) count += size;
  const auto images = numbers({count, 8, 3, 3}, 2) * 3 + 5;
  const auto residual = numbers(images.sizes(), 3), direction = numbers(images.sizes(), 4);
  const auto alone = run_layer(images, residual, sizes, direction, nullptr);
  run_ranks(num_ranks, [&](const auto& ranks) {
    std::vector<torch::Tensor> rows;
    std::vector<int64_t> mine;
    int64_t begin = 0;
    for (const int64_t size : sizes) {
      const auto share = ranks->share_of(size);
      rows.push_back(torch::arange(begin + share.first, begin + share.first + share.count));
      mine.push_back(share.count);
      begin += size;
    }
    const auto picked = torch::cat(rows);
    // A rank without any image has one of padding, as in compute_shared.
    const bool empty = picked.size(0) == 0;
    const auto part = [&](const torch::Tensor& all) {
      return empty ? torch::zeros_like(all.narrow(0, 0, 1)) : all.index_select(0, picked);
    };
    const auto here = run_layer(part(images), part(residual), mine, part(direction), ranks);
    auto weight = here.weight.clone(), bias = here.bias.clone();
    ranks->sum(weight);
    ranks->sum(bias);
    EXPECT_LT(difference(here.mean, alone.mean), 1e-6);
    EXPECT_LT(difference(here.variance, alone.variance), 1e-5);
    EXPECT_LT(difference(weight, alone.weight), 1e-4);
    EXPECT_LT(difference(bias, alone.bias), 1e-4);
    if (empty) {
      EXPECT_EQ(here.output.abs().max().template item<float>(), 0);
      EXPECT_EQ(here.input_gradient.abs().max().template item<float>(), 0);
      return;
    }
    EXPECT_LT(difference(here.output, part(alone.output)), 1e-5);
    EXPECT_LT(difference(here.input_gradient, part(alone.input_gradient)), 1e-5);
    EXPECT_LT(difference(here.residual_gradient, part(alone.residual_gradient)), 1e-5);
  });
}

TEST(SharedBatchNorm, HasTheStatisticsOfAllRanks) {
  expect_as_alone({8}, 2);
  expect_as_alone({6, 5, 7}, 2);
  expect_as_alone({9, 8}, 4);
}

TEST(SharedBatchNorm, SomeRanksHaveNoImageOfAGroup) {
  expect_as_alone({6, 1}, 2);
  expect_as_alone({2}, 3);
  expect_as_alone({1}, 2);
}

// Its input gradient by finite differences of the sum that all ranks compute.
TEST(SharedBatchNorm, GradientIsThatOfTheWhole) {
  const auto images = numbers({4, 8, 1, 2}, 5), direction = numbers({4, 8, 1, 2}, 6);
  const auto objective = [&](const torch::Tensor& values, const std::shared_ptr<Ranks>& ranks) {
    kernels::BatchNorm layer(8);
    layer->share(ranks);
    const auto share = ranks->share_of(4);
    const auto output = layer->forward(values.narrow(0, share.first, share.count));
    return (output * direction.narrow(0, share.first, share.count)).sum();
  };
  run_ranks(2, [&](const auto& ranks) {
    const auto input = images.clone().requires_grad_();
    objective(input, ranks).backward();
    auto gradient = input.grad().clone();
    ranks->sum(gradient);
    for (const int64_t place : {0, 9, 35, 63}) {
      const auto at = [&](double offset) {
        auto moved = images.clone();
        moved.flatten()[place] += offset;
        auto total = objective(moved, ranks).detach().to(torch::kFloat64);
        ranks->sum(total);
        return total.template item<double>();
      };
      const double expected = (at(1e-2) - at(-1e-2)) / 2e-2;
      EXPECT_NEAR(gradient.flatten()[place].template item<double>(), expected, 2e-3);
    }
  });
}

TEST(SharedResNet, FeaturesAndGradientsAreThoseOfOne) {
  // Of a kind that leaves no value so near zero that rounding decides what ReLU lets pass.
  const auto images = numbers({9, 3, 16, 16}, 11);
  const auto direction = numbers({9, 64}, 10);
  const std::vector<int64_t> groups = {4, 5};
  models::ResNet alone(models::resnet_layout("resnet-small"), 1);
  const auto features = alone.forward_groups(images, groups);
  (features * direction).sum().backward();
  run_ranks(4, [&](const auto& ranks) {
    models::ResNet network(models::resnet_layout("resnet-small"), 1);
    EXPECT_TRUE(network.share(ranks));
    const auto result = network.forward_groups(images, groups);
    EXPECT_LT(difference(result, features), 1e-5);
    (result * direction).sum().backward();
    const auto expected = alone.named_parameters();
    for (const auto& item : network.named_parameters()) {
      auto gradient = item.value().grad().clone().contiguous();
      ranks->sum(gradient);
      EXPECT_LT(difference(gradient, expected[item.key()].grad()), 1e-4) << item.key();
    }
    for (const auto& item : network.named_buffers()) {
      EXPECT_LT(difference(item.value(), alone.named_buffers()[item.key()]), 1e-5) << item.key();
    }
  });
}

}  // namespace
}  // namespace proca::compute

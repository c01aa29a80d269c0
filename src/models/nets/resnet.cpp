#include "models/nets/resnet.h"

#include <cmath>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include "models/nets/residual_block.h"
#include "proca/core/random.h"

namespace proca::models {

ResNet::ResNet(ResNetLayout layout, std::optional<uint64_t> seed)
    : layout_(std::move(layout)), bn1_(layout_.stage_widths.front()) {
  const bool large = layout_.stem == StemKind::kLarge;
  int64_t channels = layout_.stage_widths.front();
  conv1_ = register_module("conv1", std::make_shared<ConvolutionImpl>(
                                        /*in_channels=*/3, channels, large ? 7 : 3, large ? 2 : 1));
  register_module("bn1", bn1_);

  for (size_t stage = 0; stage < layout_.stage_blocks.size(); ++stage) {
    const auto container =
        register_module(fmt::format("layer{}", stage + 1), std::make_shared<torch::nn::Module>());
    for (int64_t i = 0; i < layout_.stage_blocks[stage]; ++i) {
      const BlockShape shape{.kind = layout_.block,
                             .in_channels = channels,
                             .width = layout_.stage_widths[stage],
                             // The stem has done the halving for the first stage.
                             .stride = stage > 0 && i == 0 ? 2 : 1,
                             .stride_in = layout_.stride_in};
      blocks_.push_back(container->register_module(std::to_string(i),
                                                   std::make_shared<ResidualBlockImpl>(shape)));
      channels = shape.out_channels();
    }
  }
  feature_size_ = channels;
  if (seed) initialise(*seed);
}

void ResNet::initialise(uint64_t seed) {
  torch::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(RandomStream(seed, "backbone")());
  for (auto& weight : parameters()) {
    if (weight.dim() != 4) continue;  // Batch-norms start at 1 and 0.
    const double fan_out = static_cast<double>(weight.size(0) * weight.size(2) * weight.size(3));
    // Drawn in row-major order, so that the numbers do not depend on the memory layout.
    weight.copy_(torch::empty(weight.sizes()).normal_(0.0, std::sqrt(2.0 / fan_out), generator));
  }
}

// cuDNN selects an algorithm for each convolution per batch size, which takes as long as several
// batches. So a batch that is a little smaller than an earlier one is padded with zeros. An
// expected batch size means few, short epochs: even a much smaller last batch is padded then.
int64_t ResNet::padded_size(const torch::Tensor& images) {
  const int64_t count = images.size(0);
  if (!is_training() || !images.is_cuda() || count == 0) return count;
  const auto expected = expected_sizes_.lower_bound(count);
  if (expected != expected_sizes_.end() && *expected <= 3 * count) return *expected;
  const auto larger = batch_sizes_.lower_bound(count);
  if (larger != batch_sizes_.end() && 2 * *larger <= 3 * count) return *larger;
  batch_sizes_.insert(count);
  return count;
}

bool ResNet::share(const std::shared_ptr<compute::Ranks>& ranks) {
  ranks_ = ranks;
  for (const auto& module : modules(/*include_self=*/false)) {
    if (auto* norm = module->as<kernels::BatchNormImpl>()) norm->share(ranks);
  }
  return true;
}

torch::Tensor ResNet::forward_groups(const torch::Tensor& images, at::IntArrayRef groups) {
  const auto group_sizes = groups.empty() ? std::vector<int64_t>{images.size(0)} : groups.vec();
  if (!ranks_) return compute(images, group_sizes);
  return compute::compute_shared(
      *ranks_, images, group_sizes,
      [this](const torch::Tensor& mine, at::IntArrayRef sizes) { return compute(mine, sizes); });
}

torch::Tensor ResNet::compute(const torch::Tensor& images, at::IntArrayRef group_sizes) {
  const int64_t count = images.size(0), padding = padded_size(images) - count;
  const auto input =
      padding > 0 ? torch::constant_pad_nd(images, {0, 0, 0, 0, 0, 0, 0, padding}) : images;
  auto output = bn1_->forward(conv1_->forward(input), group_sizes, {.relu = true});
  if (layout_.stem == StemKind::kLarge) {
    output = torch::max_pool2d(output, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
  }
  for (const auto& block : blocks_) output = block->forward(output, group_sizes);
  output = output.mean({2, 3});
  return padding > 0 ? output.narrow(0, 0, count) : output;
}

std::string ResNet::describe(LayerGraph& graph) const {
  auto output = conv1_->describe(graph, "conv1", LayerGraph::kInput);
  output = graph.append({.kind = LayerKind::kBatchNorm,
                         .name = "bn1",
                         .inputs = {output},
                         .epsilon = bn1_->epsilon()});
  output = graph.append({.kind = LayerKind::kRelu, .name = "relu", .inputs = {output}});
  if (layout_.stem == StemKind::kLarge) {
    output = graph.append({.kind = LayerKind::kMaxPool,
                           .name = "maxpool",
                           .inputs = {output},
                           .kernel = 3,
                           .stride = 2,
                           .padding = 1});
  }
  auto block = blocks_.begin();
  for (size_t stage = 0; stage < layout_.stage_blocks.size(); ++stage) {
    for (int64_t i = 0; i < layout_.stage_blocks[stage]; ++i, ++block) {
      output = (*block)->describe(graph, fmt::format("layer{}.{}", stage + 1, i), output);
    }
  }
  return graph.append(
      {.kind = LayerKind::kGlobalAveragePool, .name = "avgpool", .inputs = {output}});
}

}  // namespace proca::models

#pragma once

#include <algorithm>
#include <vector>

#include <torch/types.h>

#include "proca/core/random.h"
#include "proca/methods/method.h"
#include "proca/models/backbone.h"

namespace proca::test {

/// A network small enough for a test: 16 x 16 pixels.
inline models::ClassifierNetwork small_network(int64_t num_classes, uint64_t seed = 0) {
  models::BackboneOptions options;
  options.name = "resnet-small";
  options.seed = seed;
  return models::ClassifierNetwork(models::make_backbone(options), num_classes, seed);
}

/// The losses of an iteration as the engine computes them.
inline std::vector<methods::LossTerm> losses_of(methods::Method& method,
                                                methods::AdaptationBatch batch,
                                                const methods::StepContext& context) {
  batch.inputs = method.prepare(batch, context);
  return method.compute_losses(batch, context);
}

/// A step without files: source and target images are noise around a colour per
/// class, and what the engine provides to a method is computed from a given network.
class FakeStep {
 public:
  static constexpr int64_t kSize = 16;

  FakeStep(models::ClassifierNetwork network, int64_t num_source, int64_t num_target,
           std::vector<int64_t> target_classes)
      : network_(std::move(network)) {
    const int64_t num_classes = network_->num_classes();
    for (int64_t i = 0; i < num_source; ++i) source_classes_.push_back(i % num_classes);
    for (int64_t i = 0; i < num_target; ++i) {
      target_classes_.push_back(target_classes[static_cast<size_t>(i) % target_classes.size()]);
    }
    source_ = draw(source_classes_, "source");
    target_ = draw(target_classes_, "target");
  }

  /// Uses the network it was made with as source model and as current network.
  methods::StepContext context() {
    methods::StepContext context;
    context.predict_target = [this](methods::ModelChoice) { return predict(target_); };
    context.source_centres = [this](methods::ModelChoice) {
      const auto features = predict(source_).features;
      const auto labels = torch::tensor(source_classes_);
      auto centres = torch::zeros({network_->num_classes(), features.size(1)});
      centres.index_add_(0, labels, features);
      return centres;
    };
    context.source_prior =
        torch::full({network_->num_classes()}, 1.0 / static_cast<double>(network_->num_classes()));
    context.target_pixels = [this](const std::vector<int64_t>& ids) {
      return target_.index_select(0, torch::tensor(ids));
    };
    context.to_input = [](const torch::Tensor& pixels) { return as_input(pixels); };
    using BatchFunction = methods::StepContext::BatchFunction;
    context.for_each_target_batch = [this](const BatchFunction& function) {
      const torch::NoGradGuard no_grad;
      function(as_input(target_), {});
    };
    context.for_each_source_batch = [this](const BatchFunction& function) {
      const torch::NoGradGuard no_grad;
      function(as_input(source_), torch::tensor(source_classes_));
    };
    context.batch_size = 4;
    return context;
  }

  /// Iteration `i` of an epoch, in order.
  methods::AdaptationBatch batch(int64_t first_source, int64_t num_source, int64_t first_target,
                                 int64_t num_target) const {
    return {as_input(source_.narrow(0, first_source, num_source)),
            torch::tensor(source_classes_).narrow(0, first_source, num_source),
            as_input(target_.narrow(0, first_target, num_target)),
            torch::arange(first_target, first_target + num_target)};
  }

  /// Iteration `iteration` of an epoch as the engine would put it together for a
  /// method's plan: images in order, from the first again when they run out.
  methods::AdaptationBatch planned_batch(const methods::EpochPlan& plan, int64_t iteration,
                                         int64_t batch_size) const {
    const auto rows = [&](const torch::Tensor& images, int64_t first, int64_t count) {
      return (torch::arange(count) + first).remainder(images.size(0));
    };
    methods::AdaptationBatch batch;
    const auto labels = torch::tensor(source_classes_);
    if (plan.source) {
      const auto ids = rows(source_, iteration * batch_size, batch_size);
      batch.source_images = as_input(source_.index_select(0, ids));
      batch.source_labels = labels.index_select(0, ids);
    }
    if (plan.target) {
      const int64_t count = std::min(batch_size, target_.size(0));
      batch.target_ids = rows(target_, iteration * batch_size, count);
      batch.target_images = as_input(target_.index_select(0, batch.target_ids));
    }
    if (plan.extra_source > 0) {
      const auto ids = rows(source_, iteration * plan.extra_source + 1, plan.extra_source);
      batch.extra_source_images = as_input(source_.index_select(0, ids));
      batch.extra_source_labels = labels.index_select(0, ids);
    }
    return batch;
  }

  int64_t num_target() const { return target_.size(0); }

 private:
  static torch::Tensor as_input(const torch::Tensor& pixels) {
    return pixels.permute({0, 3, 1, 2}).to(torch::kFloat32).div(128).sub(1);
  }

  static torch::Tensor draw(const std::vector<int64_t>& classes, std::string_view purpose) {
    auto images =
        torch::empty({static_cast<int64_t>(classes.size()), kSize, kSize, 3}, torch::kUInt8);
    auto* bytes = images.data_ptr<uint8_t>();
    for (size_t i = 0; i < classes.size(); ++i) {
      RandomStream random(0, purpose, i);
      for (int64_t p = 0; p < kSize * kSize * 3; ++p) {
        const int64_t colour = (classes[i] * 37 + (p % 3) * 61 * classes[i]) % 200;
        *bytes++ = static_cast<uint8_t>(colour + random.uniform_int(50));
      }
    }
    return images;
  }

  methods::Predictions predict(const torch::Tensor& pixels) {
    const torch::NoGradGuard no_grad;
    const bool was_training = network_->is_training();
    network_->eval();
    const auto output = network_->forward(as_input(pixels));
    network_->train(was_training);
    return {torch::softmax(output.logits, 1), output.features};
  }

  models::ClassifierNetwork network_;
  std::vector<int64_t> source_classes_, target_classes_;
  torch::Tensor source_, target_;  // uint8 [N, H, W, 3]
};

}  // namespace proca::test

#include "training/training_warm_up.h"

#include <algorithm>

#include <c10/core/StreamGuard.h>
#include <fmt/format.h>

#include "compute/copy_stream.h"
#include "compute/device_memory.h"
#include "core/scope_timer.h"
#include "proca/core/log.h"
#include "training/training_iteration.h"

namespace proca::training {
namespace {

// As many target images as a batch has, of so many classes that their prototypes fill one.
torch::Tensor target_labels(methods::Method& method, int64_t num_classes, int64_t batch_size) {
  const auto* memory = method.memory();
  const int64_t per_class = memory != nullptr ? memory->per_class() : 1;
  const int64_t needed = (batch_size + per_class - 1) / per_class;
  return torch::arange(batch_size).remainder(std::min(needed, num_classes));
}

methods::StepContext make_context(const WarmUpSetup& setup, methods::Method& method,
                                  const models::ClassifierNetwork& network, torch::Device device) {
  const int64_t num_classes = network->num_classes(), num_features = network->feature_size();
  const int64_t size = setup.image_size, batch_size = setup.recipe.batch_size;
  const auto labels = target_labels(method, num_classes, batch_size);
  const auto images = torch::zeros({batch_size, 3, size, size}, device);
  methods::StepContext context;
  context.step = setup.step;
  context.num_epochs = method.extra_epochs(setup.step) + setup.recipe.epochs;
  context.batch_size = batch_size;
  context.source_prior = torch::full({num_classes}, 1.0 / static_cast<double>(num_classes));
  context.predict_target = [=](methods::ModelChoice) -> methods::Predictions {
    const auto one_hot = [&](int64_t count) {
      return torch::one_hot(labels.remainder(count), count).to(torch::kFloat32);
    };
    return {torch::softmax(8 * one_hot(num_classes), 1), one_hot(num_features)};
  };
  context.source_centres = [=](methods::ModelChoice) {
    return torch::ones({num_classes, num_features}, device);
  };
  context.target_pixels = [=](const std::vector<int64_t>& ids) {
    return torch::zeros({static_cast<int64_t>(ids.size()), size, size, 3}, torch::kUInt8);
  };
  context.to_input = [=](const torch::Tensor& pixels) {
    return pixels.to(device).permute({0, 3, 1, 2}).to(torch::kFloat32);
  };
  using BatchFunction = methods::StepContext::BatchFunction;
  context.for_each_target_batch = [=](const BatchFunction& function) {
    const torch::NoGradGuard no_grad;
    function(images, {});
  };
  context.for_each_source_batch = [=](const BatchFunction& function) {
    const torch::NoGradGuard no_grad;
    function(images, labels.to(device));
  };
  return context;
}

methods::AdaptationBatch make_batch(const methods::EpochPlan& plan, const WarmUpSetup& setup,
                                    torch::Device device) {
  const auto images = [&](int64_t count) {
    return torch::zeros({count, 3, setup.image_size, setup.image_size}, device)
        .contiguous(torch::MemoryFormat::ChannelsLast);
  };
  const auto numbers = torch::dtype(torch::kInt64).device(device);
  const int64_t batch_size = setup.recipe.batch_size;
  methods::AdaptationBatch batch;
  if (plan.source) {
    batch.source_images = images(batch_size);
    batch.source_labels = torch::zeros({batch_size}, numbers);
  }
  if (plan.target) {
    batch.target_images = images(batch_size);
    batch.target_ids = torch::arange(batch_size, numbers);
  }
  if (plan.extra_source > 0) {
    batch.extra_source_images = images(plan.extra_source);
    batch.extra_source_labels = torch::zeros({plan.extra_source}, numbers);
  }
  return batch;
}

}  // namespace

std::map<std::string, double> warm_up_iteration(const WarmUpSetup& setup, torch::Device device) {
  auto network = setup.build_network();
  network->to(device);
  const auto method = setup.build_method(network, /*seed=*/0);  // It may add layers.
  auto context = make_context(setup, *method, network, device);
  network->train();
  method->begin_step(context);
  // The calls around the first epoch and those of the recipe, so that there are prototypes.
  while (context.epoch < context.num_epochs) {
    method->begin_epoch(context);
    method->end_epoch(context);
    context.epoch = std::max(context.epoch + 1, method->extra_epochs(setup.step));
  }
  context.epoch = 0;
  auto batch = make_batch(method->plan_epoch(context), setup, device);
  batch.inputs = method->prepare(batch, context);
  TrainingIteration iteration(
      make_optimizers(network, *method, setup.recipe),
      [&](const auto& inputs, const std::string& phase) {
        context.phase = phase;
        return method->compute_losses(inputs, context);
      },
      setup.compute, device, /*capturer=*/nullptr);
  iteration.run(std::move(batch), /*lr_scale=*/1, method->phases(context));
  return iteration.take_means();
}

TrainingWarmUp::TrainingWarmUp(WarmUpSetup setup)
    : thread_([setup = std::move(setup)] {
        // Where memory is short, training itself needs it.
        constexpr int64_t kAmpleBytes = int64_t{32} << 30;
        try {
          const auto device = compute::choose_device(setup.compute);
          if (!device.is_cuda() || compute::free_device_memory(device) < kAmpleBytes) return;
          const ScopeTimer timer("warming up");
          // Not the stream of training, where a graph may be captured at the same time.
          const c10::StreamGuard side_stream(compute::side_stream(device));
          warm_up_iteration(setup, device);
        } catch (const std::exception& error) {
          // Training fails likewise and reports it; or memory was too short for both.
          log_debug(fmt::format("training could not be warmed up: {}", error.what()));
        }
      }) {}

void TrainingWarmUp::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace proca::training

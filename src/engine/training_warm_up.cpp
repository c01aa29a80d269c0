#include "engine/training_warm_up.h"

#include <c10/core/StreamGuard.h>
#include <fmt/format.h>

#include "compute/copy_stream.h"
#include "compute/device_memory.h"
#include "core/scope_timer.h"
#include "proca/compute/precision.h"
#include "proca/core/log.h"
#include "proca/engine/model_loading.h"
#include "proca/losses/cross_entropy.h"
#include "proca/losses/prototype_contrastive.h"
#include "training/sgd.h"

namespace proca::engine {
namespace {

// What methods minimise, so that the GPU's programs for it are loaded; those that this method
// has no use for do no harm. The images of its own are the last group.
torch::Tensor losses_of(const std::vector<models::NetworkOutput>& outputs, bool has_own) {
  torch::Tensor total;
  const auto add = [&](const torch::Tensor& loss) {
    const auto part = loss * 0.5;
    torch::zeros({}, part.options().dtype(torch::kFloat64)).add_(loss.detach());  // as when logged
    total = total.defined() ? total + part : part;
  };
  for (const auto& [features, logits] : outputs) {
    const auto labels = torch::zeros({logits.size(0)}, logits.options().dtype(torch::kInt64));
    add(losses::cross_entropy(logits, labels));
    if (!has_own || !logits.is_same(outputs.back().logits)) continue;
    const auto centres = torch::ones({logits.size(1), features.size(1)}, features.options());
    const auto negatives = torch::zeros({logits.size(0), 10}, labels.options());
    add(losses::prototype_contrastive_loss(features, labels, centres));
    add(losses::prototype_contrastive_loss(features, labels, centres, {}, negatives));
    add(losses::soft_cross_entropy(logits, torch::softmax(logits.detach(), 1)));
  }
  return total;
}

void train_once(const state::ModelDescription& model, const std::filesystem::path& folder,
                const methods::MethodFactory& build_method, const methods::TrainingRecipe& recipe,
                int64_t step, compute::Precision precision, torch::Device device) {
  const ScopeTimer timer("warming up");
  // Not that of training: what others record at the same time must not get this into it.
  const c10::StreamGuard aside(compute::side_stream(device));
  auto network = build_network(model, std::nullopt, folder);
  network->to(device);
  const auto method = build_method(network, /*seed=*/0);  // It may add layers.
  const int64_t batch_size = recipe.batch_size, size = model.preprocessing.image_size;
  const auto plan =
      method->plan_epoch({.step = step, .num_epochs = recipe.epochs, .batch_size = batch_size});
  network->train();
  training::Sgd optimizer({{network->parameters(), /*lr=*/1e-3, /*weight_decay=*/1e-6}},
                          /*momentum=*/0.9);
  std::vector<torch::Tensor> groups;
  for (const int64_t count : {plan.source ? batch_size : 0, plan.target ? batch_size : 0,
                              plan.extra_source, plan.own_images}) {
    if (count == 0) continue;
    groups.push_back(
        torch::zeros({count, 3, size, size}, device).contiguous(torch::MemoryFormat::ChannelsLast));
  }
  const auto loss = [&] {
    const compute::AutocastScope autocast(precision, device);
    return losses_of(network->forward_each(groups), plan.own_images > 0);
  }();
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

}  // namespace

TrainingWarmUp::TrainingWarmUp(state::ModelDescription model, std::filesystem::path folder,
                               methods::MethodFactory build_method, methods::TrainingRecipe recipe,
                               int64_t step, compute::ComputeOptions compute)
    : thread_([=] {
        // Beside everything else: where memory is short, training itself needs it.
        constexpr int64_t kAmpleBytes = int64_t{32} << 30;
        try {
          const auto device = compute::choose_device(compute);
          if (!device.is_cuda() || compute::free_device_memory(device) < kAmpleBytes) return;
          train_once(model, folder, build_method, recipe, step, compute.precision, device);
        } catch (const std::exception& error) {
          // Training meets the same, and can tell the user; or there was too little memory for
          // both.
          log_debug(fmt::format("training could not be warmed up: {}", error.what()));
        }
      }) {}

}  // namespace proca::engine

#include "training_warm_up.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include "proca/core/log.h"
#include "proca/core/scope_timer.h"
#include "proca/engine/model_loading.h"
#include "proca/engine/precision.h"

namespace proca::engine {
namespace {

void train_once(const ModelDescription& model, const std::filesystem::path& folder,
                int64_t num_images, Precision precision, torch::Device device) {
  const ScopeTimer timer("warming up");
  // A stream of its own: what others record at the same time must not get this into it.
  const c10::StreamGuard aside(
      c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device));
  auto network = build_network(model, std::nullopt, folder);
  network->to(device);
  network->train();
  const int64_t size = model.preprocessing.image_size;
  const auto images = torch::zeros({num_images, 3, size, size}, device)
                          .contiguous(torch::MemoryFormat::ChannelsLast);
  const auto loss = [&] {
    const AutocastScope autocast(precision, device);
    return network->forward(images).logits.sum();
  }();
  loss.backward();
}

}  // namespace

TrainingWarmUp::TrainingWarmUp(const ModelDescription& model, const std::filesystem::path& folder,
                               int64_t num_images, const ComputeOptions& compute,
                               torch::Device device) {
  if (!device.is_cuda()) return;
  thread_ = std::jthread([=, precision = compute.precision] {
    try {
      train_once(model, folder, num_images, precision, device);
    } catch (const std::exception& error) {
      // Training meets the same, and can tell the user; or there was too little memory for both.
      log_debug(fmt::format("training could not be warmed up: {}", error.what()));
    }
  });
}

}  // namespace proca::engine

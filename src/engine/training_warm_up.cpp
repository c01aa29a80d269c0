#include "training_warm_up.h"

#include <c10/core/StreamGuard.h>
#include <fmt/format.h>

#include "copy_stream.h"
#include "device_memory.h"
#include "proca/core/log.h"
#include "proca/core/scope_timer.h"
#include "proca/engine/model_loading.h"
#include "proca/engine/precision.h"

namespace proca::engine {
namespace {

void train_once(const ModelDescription& model, const std::filesystem::path& folder,
                int64_t num_images, Precision precision, torch::Device device) {
  const ScopeTimer timer("warming up");
  // Not that of training: what others record at the same time must not get this into it.
  const c10::StreamGuard aside(side_stream(device));
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
  // Beside everything else: where memory is short, training itself needs it.
  constexpr int64_t kAmpleBytes = int64_t{32} << 30;
  if (!device.is_cuda() || free_device_memory(device) < kAmpleBytes) return;
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

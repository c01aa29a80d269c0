#include "state/state_saver.h"

#include <memory>
#include <optional>
#include <vector>

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>
#include <torch/types.h>

#include "compute/copy_stream.h"
#include "core/scope_timer.h"
#include "models/weights/device_copy.h"
#include "proca/core/log.h"

namespace proca::state {

void StateChange::copy_tensors() {
  for (auto& [file, named] : tensors) {
    for (auto& [name, tensor] : named) tensor = tensor.detach().clone();
  }
}

void StateSaver::save_later(StateChange change) {
  // On a GPU within its own memory, which is fast; the other thread copies them to the host.
  change.copy_tensors();
  std::optional<torch::Device> gpu;
  for (const auto& [file, tensors] : change.tensors) {
    for (const auto& [name, tensor] : tensors) {
      if (!tensor.is_cpu()) gpu = tensor.device();
    }
  }
  const auto copied = std::make_shared<std::optional<c10::Event>>();
  if (gpu) {
    copied->emplace(gpu->type());
    (*copied)->record(c10::impl::VirtualGuardImpl(gpu->type()).getStream(*gpu));
  }
  queue_.add([this, change = std::move(change), gpu, copied]() mutable {
    if (gpu) fetch(change, *gpu, **copied);
    save_now(change);
  });
}

void StateSaver::fetch(StateChange& change, torch::Device gpu, c10::Event& copied) {
  const c10::StreamGuard aside(compute::side_stream(gpu));
  copied.block(aside.current_stream());
  // Held until the copies are done: freed before, training would reuse their memory.
  std::vector<torch::Tensor> held;
  for (auto& [file, tensors] : change.tensors) {
    for (auto& [name, tensor] : tensors) {
      if (tensor.is_cpu()) continue;
      held.push_back(tensor);
      // Contiguous, as in files: a GPU does that faster than the host.
      const auto& ordered = held.emplace_back(tensor.contiguous());
      tensor = models::staging(ordered.sizes(), ordered.scalar_type(), gpu);
      tensor.copy_(ordered, /*non_blocking=*/true);
    }
  }
  aside.current_stream().synchronize();
}

void StateSaver::save_now(const StateChange& change) {
  const ScopeTimer timer("saving");
  for (const auto& [file, text] : change.texts) writer_.put_text(file, text);
  for (const auto& [file, tensors] : change.tensors) writer_.put_tensors(file, tensors, {});
  for (const auto& [file, compute] : change.computed) {
    std::optional<models::NamedTensors> tensors;
    try {
      tensors = compute();
    } catch (const std::exception& error) {
      // Nothing depends on these tensors: the step is kept without them.
      log_warning(fmt::format("{} is left out: {}", file, error.what()));
    }
    if (tensors) writer_.put_tensors(file, *tensors, {});
  }
  for (const auto& file : change.removed) writer_.remove(file);
  const ScopeTimer committing("committing");
  writer_.commit(change.manifest);
}

}  // namespace proca::state

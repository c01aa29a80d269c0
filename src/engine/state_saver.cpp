#include "state_saver.h"

#include <torch/types.h>

#include "proca/core/scope_timer.h"

namespace proca::engine {

void StateSaver::save(StateChange change) {
  if (!in_background_) return write(change);
  // What is trained on meanwhile must not be what is written.
  for (auto& [file, tensors] : change.tensors) {
    for (auto& [name, tensor] : tensors) {
      tensor = tensor.is_cpu() ? tensor.detach().clone() : tensor.detach().to(torch::kCPU);
    }
  }
  queue_.add([this, change = std::move(change)] { write(change); });
}

void StateSaver::write(const StateChange& change) {
  const ScopeTimer timer("saving");
  for (const auto& [file, text] : change.texts) writer_.put_text(file, text);
  for (const auto& [file, tensors] : change.tensors) writer_.put_tensors(file, tensors, {});
  for (const auto& [file, compute] : change.computed) writer_.put_tensors(file, compute(), {});
  for (const auto& file : change.removed) writer_.remove(file);
  writer_.commit(change.manifest);
}

}  // namespace proca::engine

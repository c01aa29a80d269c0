#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/engine/adapter.h"
#include "proca/engine/model_loading.h"
#include "state_files.h"

namespace proca::engine {

void copy_source_state(const std::filesystem::path& source, const std::filesystem::path& folder) {
  if (StateDirectory::exists(folder)) return;
  const auto state = open_ready(source);
  StateWriter writer(folder);
  const auto weights = state.read_tensors(kSourceFile);
  writer.put_tensors(kSourceFile, weights.tensors, {});
  writer.put_tensors(kModelFile, weights.tensors, {});
  writer.put_text(kConfigFile, state.read_text(kConfigFile));
  if (state.has(kScriptFile)) writer.put_text(kScriptFile, state.read_text(kScriptFile));
  if (state.has(kCentresFile)) {
    const auto centres = state.read_tensors(kCentresFile);
    writer.put_tensors(kCentresFile, centres.tensors, centres.metadata);
  }
  auto manifest = state.manifest();
  manifest.step = 0;
  manifest.events_bytes = 0;
  manifest.method.clear();
  manifest.model.neck.clear();
  manifest.adapted_classes.clear();
  manifest.step_digest.clear();
  manifest.adapting.reset();
  writer.commit(manifest);
}

}  // namespace proca::engine

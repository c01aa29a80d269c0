#include <fmt/format.h>

#include "core/scope_timer.h"
#include "proca/core/error.h"
#include "proca/engine/adapter.h"
#include "proca/engine/model_loading.h"
#include "state/state_files.h"
#include "state/state_writer.h"

namespace proca::engine {

void copy_source_state(const std::filesystem::path& source, const std::filesystem::path& folder) {
  if (!state::StateDirectory::exists(folder)) copy_source_state(open_ready(source), folder);
}

void copy_source_state(const state::StateDirectory& source, const std::filesystem::path& folder) {
  if (state::StateDirectory::exists(folder)) return;
  const ScopeTimer timer("copying the source state");
  state::StateWriter writer(folder);
  writer.put_copy(state::kSourceFile, source, state::kSourceFile);
  writer.put_copy(state::kModelFile, source, state::kSourceFile);
  for (const auto* file : {state::kConfigFile, state::kScriptFile, state::kCentresFile}) {
    if (source.has(file)) writer.put_copy(file, source, file);
  }
  auto manifest = source.manifest();
  manifest.step = 0;
  manifest.events_bytes = 0;
  manifest.events_crc.reset();
  manifest.method.clear();
  manifest.model.neck.clear();
  manifest.adapted_classes.clear();
  manifest.step_digest.clear();
  manifest.adapting.reset();
  writer.commit(manifest);
}

}  // namespace proca::engine

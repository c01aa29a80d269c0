#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/core/scope_timer.h"
#include "proca/engine/adapter.h"
#include "proca/engine/model_loading.h"
#include "state_files.h"

namespace proca::engine {

void copy_source_state(const std::filesystem::path& source, const std::filesystem::path& folder) {
  if (!StateDirectory::exists(folder)) copy_source_state(open_ready(source), folder);
}

void copy_source_state(const StateDirectory& source, const std::filesystem::path& folder) {
  if (StateDirectory::exists(folder)) return;
  const ScopeTimer timer("copying the source state");
  StateWriter writer(folder);
  writer.put_copy(kSourceFile, source, kSourceFile);
  writer.put_copy(kModelFile, source, kSourceFile);
  for (const auto* file : {kConfigFile, kScriptFile, kCentresFile}) {
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

#include "proca/state/undo.h"

#include <fmt/format.h>

#include "proca/core/error.h"
#include "state/state_writer.h"

namespace proca::state {

namespace fs = std::filesystem;

namespace {

// Before the lock is taken: a folder that is none must not become a state.
void check_is_state(const fs::path& folder) { StateDirectory::read_manifest(folder); }

[[noreturn]] void refuse(const StateWriter& writer, const std::string& why) {
  throw InputError(fmt::format("{}: {}", writer.folder().string(), why));
}

bool keeps(const StateWriter& writer, int64_t step) {
  for (const auto& kept : writer.history().kept(writer.state())) {
    if (kept.step == step) return true;
  }
  return false;
}

}  // namespace

int64_t undo_step(const fs::path& state) {
  check_is_state(state);
  StateWriter writer(state);
  const auto& manifest = writer.state().manifest();
  if (manifest.adapting) {
    refuse(writer, fmt::format("step {} is under way; rerun the same command to finish it, or "
                               "forget it with proca undo --discard-unfinished",
                               manifest.step + 1));
  }
  if (manifest.step == 0) refuse(writer, "has no step that could be taken back");
  const int64_t before = manifest.step - 1;
  if (!keeps(writer, before)) {
    refuse(writer, fmt::format("step {} cannot be taken back: the state before it is not kept "
                               "any more (adapt --keep-steps says how many are)",
                               manifest.step));
  }
  writer.restore(writer.history().open(before));
  return before;
}

int64_t forget_unfinished_step(const fs::path& state) {
  check_is_state(state);
  StateWriter writer(state);
  const auto& manifest = writer.state().manifest();
  if (!manifest.adapting) refuse(writer, "no step is under way");
  if (!writer.history().has(manifest.step)) {
    refuse(writer, fmt::format("step {} was begun by a program that kept nothing of the state "
                               "before it; use proca adapt --discard-unfinished",
                               manifest.step + 1));
  }
  writer.restore(writer.history().open(manifest.step));
  return manifest.step;
}

}  // namespace proca::state

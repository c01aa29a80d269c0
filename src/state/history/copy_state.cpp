#include "state/history/copy_state.h"

#include <fmt/format.h>

#include "proca/core/error.h"
#include "state/history/state_history.h"
#include "state/state_files.h"
#include "state/state_writer.h"

namespace proca::state {

namespace fs = std::filesystem;

CopyProgress copy_for_step(const fs::path& from, const fs::path& folder) {
  const StateDirectory state(from);
  if (state.manifest().adapting) {
    throw InputError(
        fmt::format("{}: step {} is under way; finish it without --out, or forget it "
                    "with proca undo --discard-unfinished",
                    from.string(), state.manifest().step + 1));
  }
  std::error_code none;
  if (fs::equivalent(from, folder, none)) {
    throw InputError(
        fmt::format("{}: is the state itself; --out names another folder, or leave "
                    "it out",
                    folder.string()));
  }
  if (!StateDirectory::exists(folder)) {
    StateWriter(folder).copy(state);
    return CopyProgress::kUnfinished;
  }
  const auto steps = StateHistory(folder).steps_since(state);
  if (!steps || *steps > 1) {
    throw InputError(
        fmt::format("{}: holds another state than {} with one further step; use a "
                    "new folder",
                    folder.string(), from.string()));
  }
  return *steps == 1 ? CopyProgress::kFinished : CopyProgress::kUnfinished;
}

}  // namespace proca::state

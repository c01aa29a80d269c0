#pragma once

#include <filesystem>

#include "proca/state/state_directory.h"

namespace proca::state {

/// How far the step is that a copy of a state was made for.
enum class CopyProgress {
  kUnfinished,  ///< it has not begun, or is under way
  kFinished,
};

/// Makes `folder` a copy of the state `from`, so that a step may leave `from` alone: all files
/// and the events, but not the earlier steps that `from` keeps. Nothing is shared between the
/// two. Killed, the same call does it again.
///
/// A folder that holds such a copy already, with or without that step, is left as it is. Throws
/// `InputError` if it holds something else, or while a step of `from` is under way.
CopyProgress copy_for_step(const std::filesystem::path& from, const std::filesystem::path& folder);

}  // namespace proca::state

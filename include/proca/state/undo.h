#pragma once

#include <cstdint>
#include <filesystem>

namespace proca::state {

/// Takes the last finished step of a state back: model, memory, the method's state, records,
/// events and `state.json` are, byte by byte, what they were before it. Whatever happens in
/// between, the state is the one before or the one after. Returns the number of steps that
/// are left.
///
/// A state keeps what this needs from the end of a step to the end of the next one
/// (`engine::AdaptOptions::keep_steps`), so that a second call finds nothing as a rule.
///
/// Throws `InputError` if there is no step or nothing is kept of the one before it, while a step
/// is under way, and if another process writes to the state.
int64_t undo_step(const std::filesystem::path& state);

/// Removes what an unfinished step has left, so that the state is what it was before that. Returns
/// the number of finished steps. Throws `InputError` if no step is under way.
int64_t forget_unfinished_step(const std::filesystem::path& state);

}  // namespace proca::state

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/weights/pth/pickle_value.h"

namespace proca::models {

/// Limits on one pickle. Checkpoints of the largest networks, optimiser
/// included, stay far below them; a file made to exhaust memory does not.
inline constexpr size_t kMaxPickleValues = 4'000'000;
inline constexpr size_t kMaxPickleItems = 16'000'000;  ///< in all containers together
inline constexpr size_t kMaxPickleStack = 4'000'000;

/// Interprets a pickle as `torch.save` writes it (protocols 2 to 5, with the
/// strings of Python 2), from the first byte up to the STOP opcode.
///
/// Python's own interpreter calls whatever function a file names. This one has
/// no way to call anything: the globals it knows (`pickle_globals.h`) are cases
/// of a switch, and any other is refused by name, as is every opcode that
/// `torch.save` does not use for tensors and plain values. Storages are
/// referred to by key; the readers of the containers find them.
///
/// The work and the memory are proportional to the number of opcodes, there is
/// no recursion, and the limits above hold. Throws `InputError`, which begins
/// with `origin`, for anything else. The result points into `bytes`.
PickleDocument read_pickle(std::span<const uint8_t> bytes, const std::string& origin);

}  // namespace proca::models

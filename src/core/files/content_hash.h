#pragma once

#include <cstdint>
#include <span>

namespace proca {

/// A 64-bit hash that tells contents apart, continuing from `previous`: some gigabytes
/// per second, and wide enough that two of them never meet by chance. It does not
/// withstand someone who looks for a collision. The value is the same on every machine
/// and depends on how the bytes were split between calls.
uint64_t content_hash(std::span<const uint8_t> bytes, uint64_t previous = 0);

}  // namespace proca

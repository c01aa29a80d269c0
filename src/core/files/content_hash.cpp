#include "core/files/content_hash.h"

#include <array>
#include <bit>
#include <cstring>

namespace proca {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they are");

constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
constexpr size_t kLanes = 4;
constexpr size_t kBlock = kLanes * sizeof(uint64_t);

uint64_t mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * kMultiplier;
  return state ^ (state >> 29);
}

}  // namespace

uint64_t content_hash(std::span<const uint8_t> bytes, uint64_t previous) {
  // Four sums side by side: a multiplication takes longer than the next may wait.
  std::array<uint64_t, kLanes> lanes = {previous, previous + 1, previous + 2, previous + 3};
  const uint64_t size = bytes.size();
  while (bytes.size() >= kBlock) {
    std::array<uint64_t, kLanes> words;
    std::memcpy(words.data(), bytes.data(), kBlock);
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = mix(lanes[lane], words[lane]);
    bytes = bytes.subspan(kBlock);
  }
  std::array<uint64_t, kLanes> rest{};
  if (!bytes.empty()) std::memcpy(rest.data(), bytes.data(), bytes.size());
  uint64_t result = mix(previous, size);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    result = mix(result, mix(lanes[lane], rest[lane]));
  }
  return mix(result, size);
}

}  // namespace proca

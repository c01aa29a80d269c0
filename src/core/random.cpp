#include "proca/core/random.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace proca {
namespace {

// The finaliser of splitmix64: every input bit reaches every output bit.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace

RandomStream::RandomStream(uint64_t seed, std::string_view purpose, uint64_t a, uint64_t b,
                           uint64_t c) {
  uint64_t key = mix(seed);
  for (const uint64_t part : {hash_of(purpose), a, b, c}) key = mix(key ^ mix(part));
  for (auto& word : state_) word = key = mix(key);
}

uint64_t RandomStream::operator()() {
  const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double RandomStream::uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

double RandomStream::uniform(double low, double high) { return low + (high - low) * uniform(); }

int64_t RandomStream::uniform_int(int64_t count) {
  if (count <= 0) throw std::invalid_argument("uniform_int: count must be positive");
  // Rejecting the incomplete last block makes every value equally likely.
  const auto n = static_cast<uint64_t>(count);
  const uint64_t limit = max() - max() % n;
  uint64_t value = (*this)();
  while (value >= limit) value = (*this)();
  return static_cast<int64_t>(value % n);
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::vector<int64_t> random_permutation(int64_t count, RandomStream& random) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = count - 1; i > 0; --i) {
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(random.uniform_int(i + 1))]);
  }
  return order;
}

}  // namespace proca

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace proca {

/// A named stream of random numbers.
///
/// The numbers are a pure function of (seed, purpose, and up to three counters
/// such as epoch, step or image index), so that work may be split over any
/// number of threads or resumed in the middle and still draw the same numbers.
/// They are the same on every platform and with every standard library; that
/// is why the distributions of `<random>` are not used.
///
/// Example: whether image 17 is flipped in epoch 3:
/// ```
/// RandomStream random(seed, "augment", 3, 17);
/// const bool flip = random.uniform() < 0.5;
/// ```
class RandomStream {
 public:
  using result_type = uint64_t;

  RandomStream(uint64_t seed, std::string_view purpose, uint64_t a = 0, uint64_t b = 0,
               uint64_t c = 0);

  /// Next 64 random bits (xoshiro256++).
  uint64_t operator()();
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }

  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [low, high).
  double uniform(double low, double high);
  /// Uniform over {0, ..., count - 1}; `count` must be positive.
  int64_t uniform_int(int64_t count);
  /// Standard normal (Box-Muller).
  double normal();

 private:
  std::array<uint64_t, 4> state_;
};

/// The numbers 0 .. count-1 in random order (Fisher-Yates).
std::vector<int64_t> random_permutation(int64_t count, RandomStream& random);

}  // namespace proca

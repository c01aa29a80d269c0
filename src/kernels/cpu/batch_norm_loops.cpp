#include "kernels/cpu/batch_norm_loops.h"

#include <algorithm>
#include <vector>

#include "kernels/vector_lanes.h"

// Each loop is written once, eight numbers at a time, and compiled twice: for any x86 and
// for those with AVX2, where eight numbers are one register.

namespace proca::kernels {
namespace {

// Lines taken together: their sums are then loaded and stored once for all of them.
constexpr int kTogether = 4;
// So many lines are added up in single precision.
constexpr int64_t kBlock = 64;

// Calls `body.step<Lanes, lines>(offset, i, length)` for the positions i of one or more lines
// of `length` numbers that begin at `offset`.
template <int kLines, typename Body>
[[gnu::always_inline]] inline void along_lines(const Body& body, int64_t offset, int64_t length) {
  int64_t i = 0;
  for (; i + Eight::kLanes <= length; i += Eight::kLanes) {
    body.template step<Eight, kLines>(offset, i, length);
  }
  for (; i < length; ++i) body.template step<One, kLines>(offset, i, length);
}

template <typename Body>
[[gnu::always_inline]] inline void line_by_line(const Body& body, int64_t count, int64_t width) {
  for (int64_t offset = 0; offset < count; offset += width) {
    along_lines<1>(body, offset, std::min(width, count - offset));
  }
}

// As above for bodies that add to two lines of sums; these are moved into sums of double
// precision now and then.
template <typename Body>
[[gnu::always_inline]] inline void add_up(const Body& body, int64_t count, int64_t width,
                                          double* first_total, double* second_total) {
  for (int64_t begin = 0; begin < count; begin += kBlock * width) {
    const int64_t end = std::min(count, begin + kBlock * width);
    std::fill(body.first, body.first + width, 0.0F);
    std::fill(body.second, body.second + width, 0.0F);
    int64_t offset = begin;
    for (; offset + kTogether * width <= end; offset += kTogether * width) {
      along_lines<kTogether>(body, offset, width);
    }
    for (; offset < end; offset += width) {
      along_lines<1>(body, offset, std::min(width, end - offset));
    }
    for (int64_t i = 0; i < width; ++i) {
      first_total[i] += static_cast<double>(body.first[i]);
      second_total[i] += static_cast<double>(body.second[i]);
    }
  }
}

struct Moments {
  const MomentsLoop loop;
  float *first, *second;  // sums and squares

  [[gnu::always_inline]] void operator()() const {
    add_up(*this, loop.count, loop.width, loop.sums, loop.squares);
  }

  template <typename Lanes, int kLines>
  [[gnu::always_inline]] void step(int64_t offset, int64_t i, int64_t length) const {
    using V = typename Lanes::Value;
    const V centre = load<Lanes>(loop.centres + i);
    V sum = load<Lanes>(first + i), square = load<Lanes>(second + i);
#pragma GCC unroll 4
    for (int line = 0; line < kLines; ++line) {
      const V d = load<Lanes>(loop.values + offset + line * length + i) - centre;
      sum += d;
      square += d * d;
    }
    place<Lanes>(first + i) = sum;
    place<Lanes>(second + i) = square;
  }
};

template <ReluMask relu>
struct GradientSums {
  const GradientSumsLoop loop;
  float *first, *second;  // sums and products

  [[gnu::always_inline]] void operator()() const {
    add_up(*this, loop.count, loop.width, loop.sums, loop.products);
  }

  template <typename Lanes, int kLines>
  [[gnu::always_inline]] void step(int64_t offset, int64_t i, int64_t length) const {
    using V = typename Lanes::Value;
    const V mean = load<Lanes>(loop.means + i);
    V scale{}, shift{};
    if constexpr (relu == ReluMask::kRecomputed) {
      scale = load<Lanes>(loop.scales + i);
      shift = load<Lanes>(loop.shifts + i);
    }
    V sum = load<Lanes>(first + i), product = load<Lanes>(second + i);
#pragma GCC unroll 4
    for (int line = 0; line < kLines; ++line) {
      const int64_t at = offset + line * length + i;
      const V x = load<Lanes>(loop.values + at);
      V g = load<Lanes>(loop.gradients + at);
      if constexpr (relu == ReluMask::kRecomputed) {
        g = x * scale + shift <= V{} ? V{} : g;
      } else if constexpr (relu == ReluMask::kFromOutput) {
        g = load<Lanes>(loop.outputs + at) <= V{} ? V{} : g;
        place<Lanes>(loop.kept + at) = g;
      }
      sum += g;
      product += g * (x - mean);
    }
    place<Lanes>(first + i) = sum;
    place<Lanes>(second + i) = product;
  }
};

template <bool residual, bool relu>
struct Normalise {
  const NormaliseLoop loop;

  [[gnu::always_inline]] void operator()() const { line_by_line(*this, loop.count, loop.width); }

  template <typename Lanes, int>
  [[gnu::always_inline]] void step(int64_t offset, int64_t i, int64_t) const {
    using V = typename Lanes::Value;
    const int64_t at = offset + i;
    V y =
        load<Lanes>(loop.values + at) * load<Lanes>(loop.scales + i) + load<Lanes>(loop.shifts + i);
    if constexpr (residual) y += load<Lanes>(loop.residuals + at);
    // NaN stays NaN.
    if constexpr (relu) y = y < V{} ? V{} : y;
    place<Lanes>(loop.outputs + at) = y;
  }
};

template <ReluMask relu>
struct InputGradient {
  const InputGradientLoop loop;

  [[gnu::always_inline]] void operator()() const { line_by_line(*this, loop.count, loop.width); }

  template <typename Lanes, int>
  [[gnu::always_inline]] void step(int64_t offset, int64_t i, int64_t) const {
    using V = typename Lanes::Value;
    const int64_t at = offset + i;
    const V x = load<Lanes>(loop.values + at), scale = load<Lanes>(loop.scales + i);
    V g = load<Lanes>(loop.gradients + at);
    if constexpr (relu == ReluMask::kRecomputed) {
      g = x * scale + load<Lanes>(loop.shifts + i) <= V{} ? V{} : g;
    }
    place<Lanes>(loop.input_gradients + at) =
        scale * g + load<Lanes>(loop.slopes + i) * (x - load<Lanes>(loop.means + i)) +
        load<Lanes>(loop.offsets + i);
  }
};

#if defined(__x86_64__)
template <typename Loop>
[[gnu::target("avx2")]] void with_avx2(const Loop& loop) {
  loop();
}
#endif

template <typename Loop>
void vectorised(const Loop& loop) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return with_avx2(loop);
#endif
  loop();
}

struct SumLines {
  explicit SumLines(int64_t width)
      : numbers(static_cast<size_t>(2 * width)), first(numbers.data()), second(first + width) {}
  std::vector<float> numbers;
  float *first, *second;
};

}  // namespace

void run(const MomentsLoop& loop) {
  const SumLines sums(loop.width);
  vectorised(Moments{loop, sums.first, sums.second});
}

void run(const NormaliseLoop& loop) {
  if (loop.residuals != nullptr) {
    loop.relu ? vectorised(Normalise<true, true>{loop}) : vectorised(Normalise<true, false>{loop});
  } else {
    loop.relu ? vectorised(Normalise<false, true>{loop})
              : vectorised(Normalise<false, false>{loop});
  }
}

void run(const GradientSumsLoop& loop) {
  const SumLines sums(loop.width);
  switch (loop.relu) {
    case ReluMask::kNone:
      return vectorised(GradientSums<ReluMask::kNone>{loop, sums.first, sums.second});
    case ReluMask::kRecomputed:
      return vectorised(GradientSums<ReluMask::kRecomputed>{loop, sums.first, sums.second});
    case ReluMask::kFromOutput:
      return vectorised(GradientSums<ReluMask::kFromOutput>{loop, sums.first, sums.second});
  }
}

void run(const InputGradientLoop& loop) {
  loop.relu == ReluMask::kRecomputed ? vectorised(InputGradient<ReluMask::kRecomputed>{loop})
                                     : vectorised(InputGradient<ReluMask::kNone>{loop});
}

}  // namespace proca::kernels

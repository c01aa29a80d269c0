#pragma once

// How the CPU's batch-norm divides activations among tasks, and how it adds up their results.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <c10/util/FunctionRef.h>

#include "kernels/batch_norm_kernels.h"
#include "kernels/in_parallel.h"

namespace proca::kernels {

constexpr int64_t kChunk = int64_t{1} << 15;  // numbers of one task
constexpr int64_t kMinWidth = 128;            // of the lines of the inner loops
constexpr int64_t kVector = 8;                // numbers the inner loops do at once

// A group's part of the activations, in numbers, and how it is cut.
struct Piece {
  int64_t begin = 0, count = 0;
  int64_t channels = 0;
  int64_t width = 0;  // of a line: whole pixels and whole vectors
  int64_t chunk = 0;  // whole lines

  int64_t pixels() const { return count / channels; }
  int64_t num_chunks() const { return (count + chunk - 1) / chunk; }

  // Calls work(number of the chunk, its first number, how many).
  void for_chunks(c10::function_ref<void(int64_t, int64_t, int64_t)> work) const {
    in_parallel(num_chunks(),
                [&](int64_t i) { work(i, begin + i * chunk, std::min(chunk, count - i * chunk)); });
  }
};

inline std::vector<Piece> pieces_of(const BatchNormInput& input) {
  const int64_t channels = input.values.size(1);
  const int64_t least = std::lcm(channels, kVector);
  const int64_t width = (kMinWidth + least - 1) / least * least;
  const int64_t chunk = std::max(width, kChunk / width * width);
  const int64_t image = input.values.numel() / input.values.size(0);
  std::vector<Piece> pieces;
  int64_t begin = 0;
  for (const int64_t size : input.group_sizes) {
    pieces.push_back({begin, size * image, channels, width, chunk});
    begin += size * image;
  }
  return pieces;
}

// Numbers of channels, repeated along a line.
class Line {
 public:
  explicit Line(const Piece& piece)
      : channels_(piece.channels), numbers_(static_cast<size_t>(piece.width)) {}

  float& operator[](int64_t channel) { return numbers_[static_cast<size_t>(channel)]; }
  // To be called when every channel has its number.
  const float* repeated() {
    for (size_t i = static_cast<size_t>(channels_); i < numbers_.size(); ++i) {
      numbers_[i] = numbers_[i - static_cast<size_t>(channels_)];
    }
    return numbers_.data();
  }

 private:
  int64_t channels_;
  std::vector<float> numbers_;
};

// Two sums for each channel, of which every chunk has its own line.
class Sums {
 public:
  explicit Sums(const Piece& piece)
      : piece_(piece), lines_(static_cast<size_t>(2 * piece.num_chunks() * piece.width)) {}

  double* first(int64_t chunk) { return lines_.data() + 2 * chunk * piece_.width; }
  double* second(int64_t chunk) { return first(chunk) + piece_.width; }

  // Adds up the chunks, then the pixels of a line; the results are in chunk 0.
  void finish() {
    const int64_t size = 2 * piece_.width;
    for (int64_t chunk = 1; chunk < piece_.num_chunks(); ++chunk) {
      const double* line = first(chunk);
      for (int64_t i = 0; i < size; ++i) lines_[static_cast<size_t>(i)] += line[i];
    }
    for (double* line : {first(0), second(0)}) {
      for (int64_t i = piece_.channels; i < piece_.width; ++i) line[i % piece_.channels] += line[i];
    }
  }

 private:
  const Piece& piece_;
  std::vector<double> lines_;
};

}  // namespace proca::kernels

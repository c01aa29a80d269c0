#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "proca/models/named_tensors.h"

namespace proca::models {

/// Reads tensors that were loaded from a file, so nothing about them is taken for granted:
/// what is missing, has another type or shape, or holds an impossible value throws
/// `InputError` with `origin` and the name of the tensor.
///
/// Example:
/// ```
/// const SavedTensors saved(tensors, "prototype memory");
/// const auto labels = saved.read_integers("labels", {-1}, 0);
/// const auto scores = saved.read("scores", torch::kFloat64, {labels.size(0)});
/// ```
class SavedTensors {
 public:
  /// `tensors` must outlive the reader.
  SavedTensors(const NamedTensors& tensors, std::string origin)
      : tensors_(tensors), origin_(std::move(origin)) {}

  /// Contiguous and on the CPU. -1 in `shape` stands for any size. Floating-point numbers
  /// must be finite.
  torch::Tensor read(const std::string& name, torch::Dtype dtype,
                     const std::vector<int64_t>& shape) const;
  /// int64, every value from `low` to `high`.
  torch::Tensor read_integers(const std::string& name, const std::vector<int64_t>& shape,
                              int64_t low,
                              int64_t high = std::numeric_limits<int64_t>::max()) const;
  /// Throws `InputError`: `origin: "name" problem`.
  [[noreturn]] void refuse(const std::string& name, const std::string& problem) const;

 private:
  const NamedTensors& tensors_;
  std::string origin_;
};

}  // namespace proca::models

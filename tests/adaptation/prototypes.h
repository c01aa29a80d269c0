#pragma once

#include <string>

#include <torch/types.h>

#include "proca/adaptation/prototype_memory.h"

namespace proca::test {

/// 2 x 1 pixels and 2 soft labels: 6 + 2 * 4 = 14 bytes per prototype.
constexpr int64_t kPrototypeBytes = 14;

/// Prototypes of a class that can be told apart: image `row` has the pixels
/// 10 label + row, the soft labels (label, row) and the name "label/row".
inline adaptation::ClassPrototypes prototypes(int64_t label, int64_t count = 3) {
  adaptation::ClassPrototypes result;
  result.label = label;
  result.score = 0.5;
  result.step = label + 1;
  const auto rows = torch::arange(count);
  result.pixels =
      (rows + 10 * label).to(torch::kUInt8).view({count, 1, 1, 1}).expand({count, 2, 1, 3});
  result.soft_labels = torch::stack({torch::full({count}, label), rows}, 1).to(torch::kFloat32);
  for (int64_t row = 0; row < count; ++row) {
    result.origins.push_back(std::to_string(label) + "/" + std::to_string(row));
  }
  return result;
}

}  // namespace proca::test

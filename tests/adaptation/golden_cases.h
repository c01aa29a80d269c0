#pragma once

#include <string>
#include <vector>

#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "proca/core/file.h"

namespace proca::test {

/// The cases of golden/<name>.json, which golden/make_reference.py wrote.
inline nlohmann::json golden_cases(const std::string& name) {
  return nlohmann::json::parse(read_text_file(PROCA_TEST_DATA "/" + name + ".json"));
}

/// Rows of numbers as float64 [N, D].
inline torch::Tensor matrix(const std::vector<std::vector<double>>& rows) {
  std::vector<torch::Tensor> tensors;
  for (const auto& row : rows) tensors.push_back(torch::tensor(row, torch::kFloat64));
  return torch::stack(tensors);
}

inline std::vector<int64_t> int_vector(const torch::Tensor& tensor) {
  return {tensor.data_ptr<int64_t>(), tensor.data_ptr<int64_t>() + tensor.numel()};
}

}  // namespace proca::test

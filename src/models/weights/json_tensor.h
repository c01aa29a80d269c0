#pragma once

#include <string>

#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "models/weights/saved_tensors.h"

namespace proca::models {

/// JSON in a file of tensors: its text as bytes, uint8 [n]. File names are bytes, JSON is
/// UTF-8: what is not becomes U+FFFD.
torch::Tensor json_tensor(const nlohmann::json& json);

/// What `json_tensor` made a tensor of; a discarded value if it is no JSON.
nlohmann::json read_json(const SavedTensors& saved, const std::string& name);

}  // namespace proca::models

#include "models/weights/json_tensor.h"

#include <cstring>

namespace proca::models {

torch::Tensor json_tensor(const nlohmann::json& json) {
  const auto text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  auto bytes = torch::empty({static_cast<int64_t>(text.size())}, torch::kUInt8);
  std::memcpy(bytes.data_ptr<uint8_t>(), text.data(), text.size());
  return bytes;
}

nlohmann::json read_json(const SavedTensors& saved, const std::string& name) {
  const auto bytes = saved.read(name, torch::kUInt8, {-1});
  const auto* begin = bytes.data_ptr<uint8_t>();
  return nlohmann::json::parse(begin, begin + bytes.numel(), nullptr, /*allow_exceptions=*/false);
}

}  // namespace proca::models

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torch/types.h>

namespace proca::models {

inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;
inline constexpr size_t kMaxSafetensorsTensors = 1'000'000;
inline constexpr size_t kMaxSafetensorsName = 4096;  ///< bytes, of a tensor or a metadata key
inline constexpr std::string_view kSafetensorsMetadataKey = "__metadata__";

/// One row of a safetensors header.
struct SafetensorsEntry {
  std::string name;
  torch::Dtype dtype = torch::kFloat32;
  std::vector<int64_t> shape;
  int64_t begin = 0;  ///< offset of the first byte, after the header
  int64_t end = 0;    ///< one past the last byte
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< by offset
  std::map<std::string, std::string> metadata;
};

/// Parses the JSON text of a header and checks every rule of the format against
/// `data_size`, the number of bytes that follow the header. Nothing the size of
/// a tensor is allocated. Throws `InputError` that begins with `origin`.
SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t data_size,
                                           const std::string& origin);

/// `"F32"` for `kFloat32`; empty for a dtype the format does not have.
std::string_view safetensors_dtype_name(torch::Dtype dtype);

}  // namespace proca::models

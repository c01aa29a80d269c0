#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <torch/types.h>

namespace proca::models {

/// What a known global does when a pickle uses it.
enum class PickleRole : uint8_t {
  kOrderedDict,       ///< collections.OrderedDict
  kRebuildTensor,     ///< torch._utils._rebuild_tensor and _rebuild_tensor_v2
  kRebuildParameter,  ///< torch._utils._rebuild_parameter
  kStorageType,       ///< torch.FloatStorage, ...
  kSize,              ///< torch.Size
  kDevice,            ///< torch.device
  kDtype,             ///< torch.float32, ...: may be mentioned, not called
};

struct PickleGlobal {
  std::string_view module;
  std::string_view name;
  PickleRole role = PickleRole::kDtype;
  torch::Dtype dtype = torch::kFloat32;  ///< of a storage type
};

/// The number of a global, or nothing for one that is not on the list. The list
/// is the whole security of the pickle reader: nothing else has a meaning.
std::optional<int64_t> find_pickle_global(std::string_view module, std::string_view name);

const PickleGlobal& pickle_global(int64_t number);

}  // namespace proca::models

#pragma once

#include <cstdint>
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

/// Every global that a pickle may name. The security of the pickle reader rests on this
/// list: any other global is refused.
inline constexpr PickleGlobal kPickleGlobals[] = {
    {"collections", "OrderedDict", PickleRole::kOrderedDict},
    {"torch._utils", "_rebuild_tensor", PickleRole::kRebuildTensor},
    {"torch._utils", "_rebuild_tensor_v2", PickleRole::kRebuildTensor},
    {"torch._utils", "_rebuild_parameter", PickleRole::kRebuildParameter},
    {"torch", "Size", PickleRole::kSize},
    {"torch", "device", PickleRole::kDevice},
    {"torch", "DoubleStorage", PickleRole::kStorageType, torch::kFloat64},
    {"torch", "FloatStorage", PickleRole::kStorageType, torch::kFloat32},
    {"torch", "HalfStorage", PickleRole::kStorageType, torch::kFloat16},
    {"torch", "BFloat16Storage", PickleRole::kStorageType, torch::kBFloat16},
    {"torch", "LongStorage", PickleRole::kStorageType, torch::kInt64},
    {"torch", "IntStorage", PickleRole::kStorageType, torch::kInt32},
    {"torch", "ShortStorage", PickleRole::kStorageType, torch::kInt16},
    {"torch", "CharStorage", PickleRole::kStorageType, torch::kInt8},
    {"torch", "ByteStorage", PickleRole::kStorageType, torch::kUInt8},
    {"torch", "BoolStorage", PickleRole::kStorageType, torch::kBool},
    {"torch.storage", "UntypedStorage", PickleRole::kStorageType, torch::kUInt8},
    {"torch", "float64"},
    {"torch", "float32"},
    {"torch", "float16"},
    {"torch", "bfloat16"},
    {"torch", "int64"},
    {"torch", "int32"},
    {"torch", "int16"},
    {"torch", "int8"},
    {"torch", "uint8"},
    {"torch", "bool"},
};

}  // namespace proca::models

#include "models/weights/pth/pickle_globals.h"

#include <iterator>

namespace proca::models {
namespace {

constexpr PickleGlobal kGlobals[] = {
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

}  // namespace

std::optional<int64_t> find_pickle_global(std::string_view module, std::string_view name) {
  for (size_t i = 0; i < std::size(kGlobals); ++i) {
    if (kGlobals[i].module == module && kGlobals[i].name == name) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

const PickleGlobal& pickle_global(int64_t number) { return kGlobals[number]; }

}  // namespace proca::models

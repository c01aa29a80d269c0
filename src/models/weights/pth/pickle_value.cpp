#include "models/weights/pth/pickle_value.h"

namespace proca::models {

const PickleValue* PickleDocument::find(const PickleValue& dict, std::string_view key) const {
  if (dict.kind != PickleKind::kDict) return nullptr;
  for (size_t i = dict.items.size(); i >= 2; i -= 2) {
    const auto& candidate = values[dict.items[i - 2]];
    if (candidate.kind == PickleKind::kText && candidate.text == key) {
      return &values[dict.items[i - 1]];
    }
  }
  return nullptr;
}

std::string_view describe(PickleKind kind) {
  static constexpr std::string_view kNames[] = {"None",
                                                "a bool",
                                                "an int",
                                                "an int",
                                                "a float",
                                                "a str",
                                                "a bytes",
                                                "a tuple",
                                                "a list",
                                                "a dict",
                                                "a type or function",
                                                "a storage",
                                                "a tensor",
                                                "a device"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace proca::models

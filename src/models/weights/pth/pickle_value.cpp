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
  switch (kind) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBool:
      return "a bool";
    case PickleKind::kInteger:
    case PickleKind::kBigInteger:
      return "an int";
    case PickleKind::kFloat:
      return "a float";
    case PickleKind::kText:
      return "a str";
    case PickleKind::kBytes:
      return "a bytes";
    case PickleKind::kTuple:
      return "a tuple";
    case PickleKind::kList:
      return "a list";
    case PickleKind::kDict:
      return "a dict";
    case PickleKind::kGlobal:
      return "a type or function";
    case PickleKind::kStorage:
      return "a storage";
    case PickleKind::kTensor:
      return "a tensor";
    case PickleKind::kOther:
      return "a device";
  }
  return "unknown";
}

}  // namespace proca::models

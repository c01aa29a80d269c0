#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torch/types.h>

namespace proca::models {

/// What a pickle can hold here. There is no kind for an object of a class.
enum class PickleKind : uint8_t {
  kNone,
  kBool,        ///< integer 0 or 1
  kInteger,     ///< integer
  kBigInteger,  ///< beyond 64 bits: text = little-endian two's complement
  kFloat,       ///< its value is not kept
  kText,        ///< text, UTF-8 by convention only
  kBytes,       ///< text
  kTuple,       ///< items
  kList,        ///< items
  kDict,        ///< items: key, value, key, value, ...; also OrderedDict
  kGlobal,      ///< integer = which of the known globals
  kStorage,     ///< integer = index in PickleDocument::storages
  kTensor,      ///< integer = index in PickleDocument::tensors
  kDevice,      ///< nothing: not used for weights
};

/// Position of a value in `PickleDocument::values`.
using PickleHandle = uint32_t;

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t integer = 0;
  std::string_view text;  ///< points into the pickle's bytes
  std::vector<PickleHandle> items;
};

/// A block of elements outside the pickle, shared by tensors.
struct PickledStorage {
  std::string_view key;
  torch::Dtype dtype = torch::kFloat32;
  int64_t num_elements = 0;
};

/// A strided view of a storage, as in the file: not yet checked against the storage.
struct PickledTensor {
  int64_t storage = 0;  ///< index in PickleDocument::storages
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// The values of one pickle. They refer to each other by number, not by
/// pointer: a pickle may nest a million levels deep or contain itself, and a
/// flat table is neither built nor destroyed recursively.
struct PickleDocument {
  std::vector<PickleValue> values;
  std::vector<PickledStorage> storages;  ///< keys are unique
  std::vector<PickledTensor> tensors;
  PickleHandle root = 0;
  uint64_t size = 0;  ///< bytes up to and including the STOP opcode

  const PickleValue& root_value() const { return values[root]; }
  /// The value of a text key in a dictionary; null where there is none. With
  /// repeated keys the last counts, as in Python.
  const PickleValue* find(const PickleValue& dict, std::string_view key) const;
};

/// `an int`, `a list`: a value's kind in words, for messages.
std::string_view describe(PickleKind kind);

}  // namespace proca::models

#include "models/weights/pth/pth_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include "models/weights/byte_reader.h"
#include "models/weights/checked_shape.h"
#include "proca/core/error.h"

namespace proca::models {
namespace {

constexpr std::array<std::string_view, 3> kWrappers = {"state_dict", "model_state_dict", "model"};

const PickleValue& unwrap(const PickleDocument& document, const std::string& origin) {
  const auto& root = document.root_value();
  if (root.kind != PickleKind::kDict) {
    throw InputError(
        fmt::format("{}: holds {}, not a dict of weights", origin, describe(root.kind)));
  }
  for (const auto wrapper : kWrappers) {
    const auto* inner = document.find(root, wrapper);
    if (inner != nullptr && inner->kind == PickleKind::kDict) return *inner;
  }
  return root;
}

/// One past the last element that a view touches, or nothing where that or a
/// part of it is not a number that a view can have.
std::optional<int64_t> checked_end(const PickledTensor& tensor) {
  const auto count = checked_num_elements(tensor.sizes);
  if (!count || tensor.offset < 0 || tensor.sizes.size() != tensor.strides.size()) {
    return std::nullopt;
  }
  int64_t last = tensor.offset;
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    int64_t step = 0;
    if (tensor.strides[i] < 0) return std::nullopt;
    if (__builtin_mul_overflow(std::max<int64_t>(tensor.sizes[i] - 1, 0), tensor.strides[i],
                               &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return std::nullopt;
    }
  }
  if (*count == 0) return tensor.offset;
  return __builtin_add_overflow(last, 1, &last) ? std::nullopt : std::optional(last);
}

class Builder {
 public:
  Builder(const PickleDocument& document, const StorageSource& source, const std::string& origin)
      : document_(document), source_(source), origin_(origin) {}

  torch::Tensor build(const std::string& name, const PickledTensor& tensor) {
    const auto& storage = document_.storages[static_cast<size_t>(tensor.storage)];
    const auto end = checked_end(tensor);
    if (!end || *end > storage.num_elements) {
      fail(name,
           fmt::format("its offset {}, size [{}] and stride [{}] do not fit its storage of {} "
                       "elements",
                       tensor.offset, fmt::join(tensor.sizes, ", "),
                       fmt::join(tensor.strides, ", "), storage.num_elements));
    }
    if (*checked_num_elements(tensor.sizes) > storage.num_elements) {
      fail(name, fmt::format("its size [{}] repeats the elements of a storage of {}",
                             fmt::join(tensor.sizes, ", "), storage.num_elements));
    }
    return load(name, tensor.storage).as_strided(tensor.sizes, tensor.strides, tensor.offset);
  }

 private:
  torch::Tensor load(const std::string& name, int64_t index) {
    if (const auto known = loaded_.find(index); known != loaded_.end()) return known->second;
    const auto& storage = document_.storages[static_cast<size_t>(index)];
    const std::array<int64_t, 1> shape = {storage.num_elements};
    const auto elements = copy_tensor(source_(storage), shape, storage.dtype);
    if (!elements) fail(name, "it is of booleans but holds a byte that is neither 0 nor 1");
    return loaded_.emplace(index, *elements).first->second;
  }

  [[noreturn]] void fail(const std::string& name, std::string_view reason) const {
    throw InputError(
        fmt::format("{}: tensor {} cannot be read: {}", origin_, printable(name), reason));
  }

  const PickleDocument& document_;
  const StorageSource& source_;
  const std::string& origin_;
  std::map<int64_t, torch::Tensor> loaded_;
};

}  // namespace

WeightFile weights_of(const PickleDocument& document, const StorageSource& source,
                      const std::string& origin) {
  WeightFile file;
  file.origin = origin;
  const auto& weights = unwrap(document, origin);
  Builder builder(document, source, origin);
  for (size_t i = 0; i + 1 < weights.items.size(); i += 2) {
    const auto& key = document.values[weights.items[i]];
    const auto& value = document.values[weights.items[i + 1]];
    if (key.kind != PickleKind::kText) {
      throw InputError(
          fmt::format("{}: a weight is named by {}, not by a str", origin, describe(key.kind)));
    }
    if (value.kind != PickleKind::kTensor) {
      throw InputError(fmt::format("{}: {} is {}, not a tensor", origin, printable(key.text),
                                   describe(value.kind)));
    }
    const std::string name(key.text);
    if (file.tensors.contains(name)) {
      throw InputError(fmt::format("{}: tensor {} appears twice", origin, printable(name)));
    }
    file.tensors.emplace(name,
                         builder.build(name, document.tensors[static_cast<size_t>(value.integer)]));
  }
  return file;
}

}  // namespace proca::models

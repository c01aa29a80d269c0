// How a prototype memory becomes tensors and comes back from them. Tensors come
// from a file, so nothing in them is taken on trust.

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "proca/adaptation/prototype_memory.h"
#include "proca/core/error.h"

namespace proca::adaptation {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;
using Origins = std::vector<std::vector<std::string>>;

[[noreturn]] void refuse(std::string_view name, std::string_view rule) {
  throw InputError(fmt::format("prototype memory: \"{}\" {}", name, rule));
}

/// Any size stands where the expected shape says -1.
torch::Tensor read(const Tensors& tensors, const std::string& name, torch::Dtype dtype,
                   const std::vector<int64_t>& shape) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || !found->second.defined()) refuse(name, "is missing");
  const auto& tensor = found->second;
  const bool fits =
      tensor.scalar_type() == dtype &&
      std::equal(shape.begin(), shape.end(), tensor.sizes().begin(), tensor.sizes().end(),
                 [](int64_t expected, int64_t size) { return expected == size || expected == -1; });
  if (!fits) {
    refuse(name,
           fmt::format("is {} [{}] where {} [{}] belongs (-1: any size)",
                       torch::toString(tensor.scalar_type()), fmt::join(tensor.sizes().vec(), ", "),
                       torch::toString(dtype), fmt::join(shape, ", ")));
  }
  return tensor.to(torch::kCPU).contiguous();
}

torch::Tensor read_finite(const Tensors& tensors, const std::string& name, torch::Dtype dtype,
                          const std::vector<int64_t>& shape) {
  auto tensor = read(tensors, name, dtype, shape);
  if (!torch::isfinite(tensor).all().item<bool>()) {
    refuse(name, "holds a value that is no finite number");
  }
  return tensor;
}

/// Whole numbers from 0 on.
torch::Tensor read_counts(const Tensors& tensors, const std::string& name,
                          const std::vector<int64_t>& shape) {
  auto tensor = read(tensors, name, torch::kInt64, shape);
  if ((tensor < 0).any().item<bool>()) refuse(name, "holds a negative number");
  return tensor;
}

torch::Tensor encode_origins(const std::vector<ClassPrototypes>& classes) {
  auto json = nlohmann::json::array();
  for (const auto& prototypes : classes) json.push_back(prototypes.origins);
  // File names are bytes, JSON is UTF-8: what is not becomes U+FFFD.
  const auto text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  auto bytes = torch::empty({static_cast<int64_t>(text.size())}, torch::kUInt8);
  std::memcpy(bytes.data_ptr<uint8_t>(), text.data(), text.size());
  return bytes;
}

Origins decode_origins(const torch::Tensor& bytes, int64_t num_classes, int64_t per_class) {
  const auto* begin = bytes.data_ptr<uint8_t>();
  const auto is_array = [](const nlohmann::json& json, int64_t size) {
    return json.is_array() && static_cast<int64_t>(json.size()) == size;
  };
  const auto json = nlohmann::json::parse(begin, begin + bytes.numel(), nullptr,
                                          /*allow_exceptions=*/false);
  if (!is_array(json, num_classes)) refuse("origins", "is no JSON array with an entry per class");
  Origins origins;
  for (const auto& entry : json) {
    const bool fits =
        is_array(entry, per_class) &&
        std::all_of(entry.begin(), entry.end(), [](const auto& name) { return name.is_string(); });
    if (!fits) refuse("origins", "has a class without a text per prototype");
    origins.push_back(entry.get<std::vector<std::string>>());
  }
  return origins;
}

}  // namespace

Tensors PrototypeMemory::save() const {
  if (classes_.empty()) return {};
  std::vector<int64_t> labels;
  std::vector<double> scores;
  std::vector<int64_t> steps;
  std::vector<torch::Tensor> pixels;
  std::vector<torch::Tensor> soft_labels;
  for (const auto& prototypes : classes_) {
    labels.push_back(prototypes.label);
    scores.push_back(prototypes.score);
    steps.push_back(prototypes.step);
    pixels.push_back(prototypes.pixels);
    soft_labels.push_back(prototypes.soft_labels);
  }
  return {{"labels", torch::tensor(labels)},
          {"scores", torch::tensor(scores, torch::kFloat64)},
          {"steps", torch::tensor(steps)},
          {"pixels", torch::stack(pixels)},
          {"soft_labels", torch::stack(soft_labels)},
          {"origins", encode_origins(classes_)}};
}

void PrototypeMemory::load(const Tensors& tensors) {
  PrototypeMemory loaded(per_class_, budget_bytes_);
  if (!tensors.empty()) {
    const auto labels = read_counts(tensors, "labels", {-1});
    const int64_t count = labels.size(0);
    const auto scores = read_finite(tensors, "scores", torch::kFloat64, {count});
    const auto steps = read_counts(tensors, "steps", {count});
    const auto pixels = read(tensors, "pixels", torch::kUInt8, {count, -1, -1, -1, 3});
    const int64_t saved_per_class = pixels.size(1);
    const auto soft_labels =
        read_finite(tensors, "soft_labels", torch::kFloat32, {count, saved_per_class, -1});
    if (pixels.numel() == 0) refuse("pixels", "is empty");
    if (soft_labels.numel() == 0) refuse("soft_labels", "is empty");
    const auto origins =
        decode_origins(read(tensors, "origins", torch::kUInt8, {-1}), count, saved_per_class);

    // Room for all of them at once, so that at most one warning is given.
    loaded.per_class_ = std::min(per_class_, saved_per_class);
    loaded.make_room(count, pixels[0][0].numel() +
                                soft_labels[0][0].numel() * static_cast<int64_t>(sizeof(float)));
    for (int64_t i = 0; i < count; ++i) {
      const auto label = labels.data_ptr<int64_t>()[i];
      if (loaded.contains(label)) refuse("labels", fmt::format("holds {} twice", label));
      loaded.put({.label = label,
                  .score = scores.data_ptr<double>()[i],
                  .step = steps.data_ptr<int64_t>()[i],
                  .pixels = pixels[i],
                  .soft_labels = soft_labels[i],
                  .origins = origins[static_cast<size_t>(i)]});
    }
  }
  loaded.revision_ = revision_ + 1;
  *this = std::move(loaded);
}

}  // namespace proca::adaptation

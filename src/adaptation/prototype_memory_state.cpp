// How a prototype memory is saved as tensors and loaded again.

#include <algorithm>

#include <fmt/format.h>

#include "models/weights/json_tensor.h"
#include "models/weights/saved_tensors.h"
#include "proca/adaptation/prototype_memory.h"

namespace proca::adaptation {
namespace {

using models::SavedTensors;
using Origins = std::vector<std::vector<std::string>>;

torch::Tensor encode_origins(const std::vector<ClassPrototypes>& classes) {
  auto json = nlohmann::json::array();
  for (const auto& prototypes : classes) json.push_back(prototypes.origins);
  return models::json_tensor(json);
}

Origins decode_origins(const SavedTensors& saved, int64_t num_classes, int64_t per_class) {
  const auto is_array = [](const nlohmann::json& json, int64_t size) {
    return json.is_array() && static_cast<int64_t>(json.size()) == size;
  };
  const auto json = models::read_json(saved, "origins");
  if (!is_array(json, num_classes)) {
    saved.refuse("origins", "is not a JSON array with an entry per class");
  }
  Origins origins;
  for (const auto& entry : json) {
    const bool fits =
        is_array(entry, per_class) &&
        std::all_of(entry.begin(), entry.end(), [](const auto& name) { return name.is_string(); });
    if (!fits) saved.refuse("origins", "has a class without a name per prototype");
    origins.push_back(entry.get<std::vector<std::string>>());
  }
  return origins;
}

}  // namespace

std::map<std::string, torch::Tensor> PrototypeMemory::save() const {
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

void PrototypeMemory::load(const std::map<std::string, torch::Tensor>& tensors) {
  PrototypeMemory loaded(per_class_, budget_bytes_);
  if (!tensors.empty()) {
    const SavedTensors saved(tensors, "prototype memory");
    const auto labels = saved.read_integers("labels", {-1}, 0);
    const int64_t count = labels.size(0);
    const auto scores = saved.read("scores", torch::kFloat64, {count});
    const auto steps = saved.read_integers("steps", {count}, 0);
    const auto pixels = saved.read("pixels", torch::kUInt8, {count, -1, -1, -1, 3});
    const int64_t saved_per_class = pixels.size(1);
    const auto soft_labels =
        saved.read("soft_labels", torch::kFloat32, {count, saved_per_class, -1});
    if (pixels.numel() == 0) saved.refuse("pixels", "is empty");
    if (soft_labels.numel() == 0) saved.refuse("soft_labels", "is empty");
    const auto origins = decode_origins(saved, count, saved_per_class);

    // Room for all of them at once, so that at most one warning is given.
    loaded.per_class_ = std::min(per_class_, saved_per_class);
    loaded.make_room(count, pixels[0][0].numel() +
                                soft_labels[0][0].numel() * static_cast<int64_t>(sizeof(float)));
    for (int64_t i = 0; i < count; ++i) {
      const auto label = labels.data_ptr<int64_t>()[i];
      if (loaded.contains(label)) saved.refuse("labels", fmt::format("holds {} twice", label));
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

#include "report/collect/prototype_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <torch/types.h>

#include "core/parallel.h"
#include "proca/adaptation/prototype_memory.h"
#include "report/images/thumbnails.h"
#include "state/state_files.h"

namespace proca::report {
namespace {

constexpr size_t kSoftLabels = 3;

int64_t checked_label(int64_t label, int64_t num_classes) {
  if (label < 0 || label >= num_classes) {
    throw std::invalid_argument(fmt::format("there is no class {}", label));
  }
  return label;
}

// Four digits are enough for a reader.
double rounded(float probability) {
  return std::round(static_cast<double>(probability) * 1e4) / 1e4;
}

// The most probable classes, `[[label, probability], ...]`.
Json soft_label(const float* probabilities, int64_t num_classes) {
  std::vector<int64_t> labels(static_cast<size_t>(num_classes));
  std::iota(labels.begin(), labels.end(), 0);
  const auto count = std::min(kSoftLabels, labels.size());
  std::partial_sort(
      labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(count), labels.end(),
      [&](int64_t a, int64_t b) {
        return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
      });
  auto entries = Json::array();
  for (size_t i = 0; i < count; ++i) {
    entries.push_back({labels[i], rounded(probabilities[labels[i]])});
  }
  return entries;
}

data::ImageView view_of(const torch::Tensor& pixels) {
  return {std::span<const uint8_t>(pixels.data_ptr<uint8_t>(), static_cast<size_t>(pixels.numel())),
          pixels.size(1), pixels.size(0)};
}

}  // namespace

Json PrototypeHistory::after(int64_t step, const Detail& detail) {
  const auto name = state::step_file_name(step, state::kPrototypesFile);
  if (!state_.has(name)) return nullptr;
  const auto origin = (state_.folder() / name).string();
  reading(origin, [&] {
    const auto record = parse_json(state_.read_text(name), origin);
    const auto per_class = whole_number(record.at("prototypes_per_class"));
    if (per_class < 0) throw std::invalid_argument("prototypes_per_class is negative");
    for (const auto& captured : record.at("captured")) {
      const auto label = checked_label(whole_number(captured.at("label")), num_classes_);
      Json entry = {
          {"label", label}, {"score", captured.at("score").get<double>()}, {"step", step}};
      if (detail.thumbnails_per_seed >= num_classes_) {
        entry["images"] = Json::array();
        for (const auto& image : captured.at("images")) {
          entry["images"].push_back({{"path", image.at("path").get<std::string>()},
                                     {"probability", image.at("probability").get<double>()},
                                     {"predicted", whole_number(image.at("predicted"))}});
        }
      }
      const auto known = std::find_if(classes_.begin(), classes_.end(), [&](const Json& other) {
        return other.at("label") == label;
      });
      if (known == classes_.end()) {
        classes_.push_back(std::move(entry));
      } else {
        *known = std::move(entry);
      }
    }
    // A budget may have lowered the number for all classes.
    for (auto& entry : classes_) {
      if (!entry.contains("images")) continue;
      auto& images = entry["images"];
      while (static_cast<int64_t>(images.size()) > per_class) images.erase(images.size() - 1);
    }
  });
  return classes_;
}

Json current_prototypes(const state::StateDirectory& state, int64_t num_classes,
                        const Detail& detail) {
  if (!state.has(state::kMemoryFile)) return nullptr;
  const auto origin = (state.folder() / state::kMemoryFile).string();
  adaptation::PrototypeMemory memory(std::numeric_limits<int64_t>::max());
  try {
    memory.load(state.read_tensors(state::kMemoryFile).tensors);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", origin, error.what()));
  }
  const auto& classes = memory.classes();
  const int64_t with_picture = detail.thumbnails_per_seed / std::max<int64_t>(1, num_classes);
  std::vector<Json> entries(classes.size());
  reading(origin, [&] {
    parallel_for(static_cast<int64_t>(classes.size()), available_cores(), [&](int64_t index) {
      const auto& prototypes = classes[static_cast<size_t>(index)];
      const auto label = checked_label(prototypes.label, num_classes);
      if (prototypes.soft_labels.size(1) != num_classes) {
        throw std::invalid_argument("soft labels are not of this model's classes");
      }
      Json entry = {{"label", label}, {"score", prototypes.score}, {"step", prototypes.step + 1}};
      if (with_picture == 0) {
        entries[static_cast<size_t>(index)] = std::move(entry);
        return;
      }
      entry["images"] = Json::array();
      for (int64_t i = 0; i < static_cast<int64_t>(prototypes.origins.size()); ++i) {
        const auto soft = prototypes.soft_labels[i].contiguous();
        const auto* probabilities = soft.data_ptr<float>();
        Json image;
        if (i < with_picture)
          image["src"] = thumbnail_url(view_of(prototypes.pixels[i].contiguous()));
        image["path"] = prototypes.origins[static_cast<size_t>(i)];
        image["probability"] = rounded(probabilities[label]);
        image["predicted"] =
            std::max_element(probabilities, probabilities + num_classes) - probabilities;
        image["soft_label"] = soft_label(probabilities, num_classes);
        entry["images"].push_back(std::move(image));
      }
      entries[static_cast<size_t>(index)] = std::move(entry);
    });
  });
  return entries;
}

}  // namespace proca::report

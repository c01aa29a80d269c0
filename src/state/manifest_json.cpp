#include "state/manifest_json.h"

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

namespace proca::state {
namespace {

using Mode = data::ResizeOptions::Mode;
using data::Orientation;

constexpr const char* kUprightWord = "upright";

nlohmann::ordered_json to_json(const data::Preprocessing& preprocessing) {
  return {{"image_size", preprocessing.image_size},
          {"resize", preprocessing.resize.size},
          {"resize_mode", preprocessing.resize.mode == Mode::kExact ? "exact" : "shorter-side"},
          {"orientation",
           preprocessing.resize.orientation == Orientation::kUpright ? kUprightWord : "stored"},
          {"mean", preprocessing.mean},
          {"std", preprocessing.std}};
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

data::Preprocessing preprocessing_from_json(const nlohmann::json& json) {
  data::Preprocessing preprocessing;
  preprocessing.image_size = count_from_json(json, "image_size", kMaxImageSize);
  if (preprocessing.image_size == 0) refuse("image_size is 0");
  preprocessing.resize.size = count_from_json(json, "resize", kMaxImageSize);
  preprocessing.resize.mode = json.at("resize_mode") == "exact" ? Mode::kExact : Mode::kShorterSide;
  // States of earlier versions were trained on images as they are stored, and do not say so.
  preprocessing.resize.orientation =
      json.value("orientation", "") == kUprightWord ? Orientation::kUpright : Orientation::kStored;
  preprocessing.mean = json.at("mean");
  preprocessing.std = json.at("std");
  for (const double value : preprocessing.std) {
    if (!(value > 0)) refuse(fmt::format("std is {}, not above 0", value));
  }
  return preprocessing;
}

// Labels in ascending order, as they are written.
std::vector<int64_t> labels_from_json(const nlohmann::json& json, const ModelDescription& model) {
  if (!json.is_array()) refuse("adapted_classes is not a list");
  std::vector<int64_t> labels;
  int64_t lowest = 0;
  for (const auto& label : json) {
    const bool is_whole = label.is_number_integer();  // else it might not fit into one
    if (!is_whole || label < lowest || label >= model.class_names.size()) {
      refuse(fmt::format("adapted class {} is out of order or out of range", label.dump()));
    }
    labels.push_back(label.get<int64_t>());
    lowest = labels.back() + 1;
  }
  return labels;
}

}  // namespace

int64_t count_from_json(const nlohmann::json& json, const char* key, int64_t limit) {
  const auto& value = json.at(key);
  if (!value.is_number_integer()) refuse(fmt::format("{} is not a whole number", key));
  const auto number = value.get<int64_t>();  // beyond int64 it turns negative
  if (number < 0 || number > limit) {
    refuse(fmt::format("{} is not between 0 and {}", key, limit));
  }
  return number;
}

void check_file_name(const std::string& name) {
  const std::filesystem::path path(name);
  bool is_inside = !name.empty() && path.is_relative() && path.has_filename();
  for (const auto& part : path) is_inside = is_inside && part != "..";
  if (!is_inside) refuse("the file \"" + name + "\" does not lie in the state's folder");
}

nlohmann::ordered_json to_json(const Manifest& manifest) {
  const auto& model = manifest.model;
  nlohmann::ordered_json adapting;  // null: no step is under way
  if (const auto& step = manifest.adapting) {
    adapting = {{"epoch", step->epoch}, {"iteration", step->iteration}, {"digest", step->digest}};
  }
  nlohmann::ordered_json events_crc;  // null: not known
  if (manifest.events_crc) events_crc = *manifest.events_crc;
  return {{"phase", manifest.phase == Phase::kReady ? "ready" : "pretraining"},
          {"epoch", manifest.epoch},
          {"step", manifest.step},
          {"model",
           {{"backbone", model.backbone},
            {"stride_in", model.stride_in == models::StrideIn::k1x1 ? "1x1" : "3x3"},
            {"neck", model.neck},
            {"class_names", model.class_names},
            {"preprocessing", to_json(model.preprocessing)}}},
          {"source", manifest.source},
          {"source_root", manifest.source_root},
          {"source_files", manifest.source_files},
          {"source_from_state", manifest.source_from_state},
          {"source_root_from_state", manifest.source_root_from_state},
          {"config_digest", manifest.config_digest},
          {"events_bytes", manifest.events_bytes},
          {"events_crc32", events_crc},
          {"method", manifest.method},
          {"adapted_classes", manifest.adapted_classes},
          {"step_digest", manifest.step_digest},
          {"adapting", adapting}};
}

Manifest manifest_from_json(const nlohmann::json& json) {
  Manifest manifest;
  manifest.phase = json.at("phase") == "ready" ? Phase::kReady : Phase::kPretraining;
  manifest.epoch = count_from_json(json, "epoch");
  manifest.step = count_from_json(json, "step", kMaxSteps);
  const auto& model = json.at("model");
  manifest.model.backbone = model.at("backbone");
  manifest.model.stride_in =
      model.at("stride_in") == "1x1" ? models::StrideIn::k1x1 : models::StrideIn::k3x3;
  manifest.model.neck = model.value("neck", "");  // States of earlier versions have none.
  if (static_cast<int64_t>(model.at("class_names").size()) > kMaxClasses) {
    refuse(fmt::format("there are more than {} classes", kMaxClasses));
  }
  manifest.model.class_names = model.at("class_names").get<std::vector<std::string>>();
  manifest.model.preprocessing = preprocessing_from_json(model.at("preprocessing"));
  manifest.source = json.at("source");
  manifest.source_root = json.at("source_root");
  manifest.source_files = json.value("source_files", "");            // Earlier versions have none.
  manifest.source_from_state = json.value("source_from_state", "");  // Not in earlier versions.
  manifest.source_root_from_state = json.value("source_root_from_state", "");
  manifest.config_digest = json.at("config_digest");
  manifest.events_bytes = count_from_json(json, "events_bytes");
  const auto events_crc = json.find("events_crc32");
  if (events_crc != json.end() && !events_crc->is_null()) manifest.events_crc = *events_crc;
  if (json.at("format_version") == 1) return manifest;  // Version 1 knew no adaptation.
  manifest.method = json.at("method");
  manifest.adapted_classes = labels_from_json(json.at("adapted_classes"), manifest.model);
  manifest.step_digest = json.at("step_digest");
  if (const auto& step = json.at("adapting"); !step.is_null()) {
    manifest.adapting = {count_from_json(step, "epoch"), count_from_json(step, "iteration"),
                         step.at("digest")};
  }
  return manifest;
}

}  // namespace proca::state

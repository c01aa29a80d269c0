#include "manifest_json.h"

namespace proca::engine {
namespace {

using Mode = data::ResizeOptions::Mode;

nlohmann::ordered_json to_json(const data::Preprocessing& preprocessing) {
  return {{"image_size", preprocessing.image_size},
          {"resize", preprocessing.resize.size},
          {"resize_mode", preprocessing.resize.mode == Mode::kExact ? "exact" : "shorter-side"},
          {"mean", preprocessing.mean},
          {"std", preprocessing.std}};
}

data::Preprocessing preprocessing_from_json(const nlohmann::json& json) {
  data::Preprocessing preprocessing;
  preprocessing.image_size = json.at("image_size");
  preprocessing.resize.size = json.at("resize");
  preprocessing.resize.mode = json.at("resize_mode") == "exact" ? Mode::kExact : Mode::kShorterSide;
  preprocessing.mean = json.at("mean");
  preprocessing.std = json.at("std");
  return preprocessing;
}

}  // namespace

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
  manifest.epoch = json.at("epoch");
  manifest.step = json.at("step");
  const auto& model = json.at("model");
  manifest.model.backbone = model.at("backbone");
  manifest.model.stride_in =
      model.at("stride_in") == "1x1" ? models::StrideIn::k1x1 : models::StrideIn::k3x3;
  manifest.model.neck = model.value("neck", "");  // States of earlier versions have none.
  manifest.model.class_names = model.at("class_names").get<std::vector<std::string>>();
  manifest.model.preprocessing = preprocessing_from_json(model.at("preprocessing"));
  manifest.source = json.at("source");
  manifest.source_root = json.at("source_root");
  manifest.config_digest = json.at("config_digest");
  manifest.events_bytes = json.at("events_bytes");
  const auto events_crc = json.find("events_crc32");
  if (events_crc != json.end() && !events_crc->is_null()) manifest.events_crc = *events_crc;
  if (json.at("format_version") == 1) return manifest;  // Version 1 knew no adaptation.
  manifest.method = json.at("method");
  manifest.adapted_classes = json.at("adapted_classes").get<std::vector<int64_t>>();
  manifest.step_digest = json.at("step_digest");
  if (const auto& step = json.at("adapting"); !step.is_null()) {
    manifest.adapting = {step.at("epoch"), step.at("iteration"), step.at("digest")};
  }
  return manifest;
}

}  // namespace proca::engine

#include "protocol/metrics_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/json_limits.h"
#include "proca/core/error.h"

namespace proca::protocol {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no word for "not a number": a group without images is null.
Json percent(double share) { return std::isnan(share) ? Json() : Json(share * 100); }

Json percents(const std::vector<double>& shares) {
  auto list = Json::array();
  for (const double share : shares) list.push_back(percent(share));
  return list;
}

Json detection_json(const DetectionQuality& detection) {
  return {{"detected", detection.num_detected},
          {"present", detection.num_present},
          {"right", detection.num_right},
          {"recall_percent", percent(detection.recall())},
          {"precision_percent", percent(detection.precision())}};
}

Json tally_json(const Tally& tally) {
  return {{"images", tally.num_images},
          {"correct", tally.num_correct},
          {"accuracy_percent", percent(tally.accuracy())}};
}

Json confusion_json(const std::vector<ConfusionCount>& confusion) {
  auto list = Json::array();
  for (const auto& [label, predicted, num_images] : confusion) {
    list.push_back({label, predicted, num_images});
  }
  return list;
}

// Names of folders may be anything, JSON is UTF-8.
std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A damaged value, told from the parser's own exceptions.
[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

int64_t whole_number(const nlohmann::json& value, const char* key) {
  if (!value.is_number_integer()) refuse(fmt::format("{} is not a whole number", key));
  const auto number = value.get<int64_t>();  // beyond int64 it turns negative
  if (number < 0) refuse(fmt::format("{} is negative or too large", key));
  return number;
}

int64_t count(const nlohmann::json& json, const char* key) {
  return whole_number(json.at(key), key);
}

Tally read_tally(const nlohmann::json& json) {
  const Tally tally{count(json, "images"), count(json, "correct")};
  if (tally.num_correct > tally.num_images) {
    refuse(fmt::format("{} of {} images are right", tally.num_correct, tally.num_images));
  }
  return tally;
}

DetectionQuality read_detection(const nlohmann::json& json) {
  const DetectionQuality detection{count(json, "detected"), count(json, "present"),
                                   count(json, "right")};
  if (detection.num_right > std::min(detection.num_detected, detection.num_present)) {
    refuse("more classes are right than were detected or present");
  }
  return detection;
}

// The counts must be those of the classes: each class's images, and its right ones.
std::vector<ConfusionCount> read_confusion(const nlohmann::json& json,
                                           const std::vector<ClassAccuracy>& classes) {
  if (!json.is_array()) refuse("confusion is not a list");
  std::map<int64_t, Tally> tallies;
  std::vector<ConfusionCount> confusion;
  for (const auto& entry : json) {
    if (!entry.is_array() || entry.size() != 3) refuse("confusion has an entry that is no triple");
    const ConfusionCount pair{whole_number(entry[0], "confusion"),
                              whole_number(entry[1], "confusion"),
                              whole_number(entry[2], "confusion")};
    auto& tally = tallies[pair.label];
    tally.num_images += pair.num_images;
    if (pair.label == pair.predicted) tally.num_correct += pair.num_images;
    confusion.push_back(pair);
  }
  for (const auto& entry : classes) {
    const auto& tally = tallies[entry.label];
    if (tally.num_images != entry.num_images || tally.num_correct != entry.num_correct) {
      refuse(fmt::format("confusion and classes disagree about class {}", entry.label));
    }
  }
  if (tallies.size() != classes.size()) refuse("confusion has a class that classes has not");
  return confusion;
}

StepRecord read_record(const nlohmann::json& json) {
  StepRecord record;
  if (!json.at("classes").is_array()) refuse("classes is not a list");
  for (const auto& entry : json.at("classes")) {
    const auto tally = read_tally(entry);
    const auto label = count(entry, "label");
    if (!record.classes.empty() && label <= record.classes.back().label) {
      refuse(fmt::format("class {} is out of order", label));
    }
    record.classes.push_back({label, tally.num_images, tally.num_correct});
  }
  if (json.contains("confusion")) {
    record.confusion = read_confusion(json.at("confusion"), record.classes);
  }
  if (json.contains("detection")) record.detection = read_detection(json.at("detection"));
  if (json.contains("pseudo_labels")) record.pseudo_labels = read_tally(json.at("pseudo_labels"));
  return record;
}

// A share of at most `limit` percent; null is one of which no image is left.
double share(const nlohmann::json& value, const std::string& key, double limit = 100) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) refuse(key + " is not a number");
  const auto number = value.get<double>();
  if (!(std::abs(number) <= limit)) refuse(fmt::format("{} is {} percent", key, number));
  return number / 100;
}

double share_of(const nlohmann::json& json, const std::string& key) {
  return share(json.at(key), key);
}

std::vector<double> shares_of(const nlohmann::json& json, const std::string& key) {
  if (!json.at(key).is_array()) refuse(key + " is not a list");
  std::vector<double> shares;
  for (const auto& value : json.at(key)) shares.push_back(share(value, key));
  return shares;
}

std::optional<double> optional_share(const nlohmann::json& json, const std::string& key) {
  if (!json.contains(key)) return std::nullopt;
  return share_of(json, key);
}

StepMetrics read_step(const nlohmann::json& json, int64_t number) {
  if (count(json, "step") != number) refuse(fmt::format("step {} is missing", number));
  StepMetrics step;
  step.accuracy = share_of(json, "accuracy_percent");
  step.s1_accuracy = share_of(json, "s1_accuracy_percent");
  step.s1_accuracy_rounded = share_of(json, "s1_accuracy_rounded_percent");
  step.accuracy_drop = share_of(json, "accuracy_drop_percent");
  // From little to much accuracy it is far below -100 %.
  step.relative_accuracy_drop = share(json.at("relative_accuracy_drop_percent"), "relative drop",
                                      std::numeric_limits<double>::max());
  step.group_accuracy = shares_of(json, "group_accuracy_percent");
  if (json.contains("detection")) step.detection = read_detection(json.at("detection"));
  if (json.contains("pseudo_labels")) step.pseudo_labels = read_tally(json.at("pseudo_labels"));
  return step;
}

RunMetrics read_run(const nlohmann::json& json) {
  RunMetrics metrics;
  metrics.final_accuracy = share_of(json, "final_accuracy_percent");
  metrics.mean_accuracy = share_of(json, "mean_accuracy_percent");
  metrics.final_s1_accuracy = share_of(json, "final_s1_accuracy_percent");
  metrics.mean_s1_accuracy = share_of(json, "mean_s1_accuracy_percent");
  metrics.forgetting = share_of(json, "forgetting_percent");
  metrics.backward_transfer = share_of(json, "backward_transfer_percent");
  metrics.mean_recall = optional_share(json, "mean_recall_percent");
  metrics.mean_precision = optional_share(json, "mean_precision_percent");
  metrics.pseudo_label_accuracy = optional_share(json, "pseudo_label_accuracy_percent");
  metrics.source_group_accuracy = shares_of(json, "source_group_accuracy_percent");
  if (!json.at("steps").is_array()) refuse("steps is not a list");
  for (const auto& step : json.at("steps")) {
    metrics.steps.push_back(read_step(step, static_cast<int64_t>(metrics.steps.size()) + 1));
  }
  if (metrics.steps.empty()) refuse("there is no step");
  return metrics;
}

// Reads with `read`, and says which file it was that cannot be read.
template <typename Read>
auto read_json(const std::string& text, const std::string& origin, const Read& read) {
  check_json_limits(text, origin);
  try {
    return read(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: is damaged: {}", origin, error.what()));
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: is damaged: {}", origin, error.what()));
  }
}

Json step_json(const StepMetrics& step, int64_t number) {
  Json json = {{"step", number},
               {"accuracy_percent", percent(step.accuracy)},
               {"s1_accuracy_percent", percent(step.s1_accuracy)},
               {"s1_accuracy_rounded_percent", percent(step.s1_accuracy_rounded)},
               {"accuracy_drop_percent", percent(step.accuracy_drop)},
               {"relative_accuracy_drop_percent", percent(step.relative_accuracy_drop)},
               {"group_accuracy_percent", percents(step.group_accuracy)}};
  if (step.detection) json["detection"] = detection_json(*step.detection);
  if (step.pseudo_labels) json["pseudo_labels"] = tally_json(*step.pseudo_labels);
  return json;
}

}  // namespace

std::string to_json(const StepRecord& record, const std::vector<std::string>& class_names) {
  Tally total;
  auto classes = Json::array();
  for (const auto& entry : record.classes) {
    total.num_images += entry.num_images;
    total.num_correct += entry.num_correct;
    classes.push_back({{"label", entry.label},
                       {"class", class_names.at(static_cast<size_t>(entry.label))},
                       {"images", entry.num_images},
                       {"correct", entry.num_correct}});
  }
  auto json = tally_json(total);
  json["classes"] = std::move(classes);
  if (!record.confusion.empty()) json["confusion"] = confusion_json(record.confusion);
  if (record.detection) json["detection"] = detection_json(*record.detection);
  if (record.pseudo_labels) json["pseudo_labels"] = tally_json(*record.pseudo_labels);
  return text_of(json);
}

StepRecord step_record_from_json(const std::string& text, const std::string& origin) {
  return read_json(text, origin, read_record);
}

std::string to_json(const RunMetrics& metrics) {
  Json json = {{"final_accuracy_percent", percent(metrics.final_accuracy)},
               {"mean_accuracy_percent", percent(metrics.mean_accuracy)},
               {"final_s1_accuracy_percent", percent(metrics.final_s1_accuracy)},
               {"mean_s1_accuracy_percent", percent(metrics.mean_s1_accuracy)},
               {"forgetting_percent", percent(metrics.forgetting)},
               {"backward_transfer_percent", percent(metrics.backward_transfer)}};
  if (metrics.mean_recall) json["mean_recall_percent"] = percent(*metrics.mean_recall);
  if (metrics.mean_precision) json["mean_precision_percent"] = percent(*metrics.mean_precision);
  if (metrics.pseudo_label_accuracy) {
    json["pseudo_label_accuracy_percent"] = percent(*metrics.pseudo_label_accuracy);
  }
  json["source_group_accuracy_percent"] = percents(metrics.source_group_accuracy);
  json["steps"] = Json::array();
  for (size_t i = 0; i < metrics.steps.size(); ++i) {
    json["steps"].push_back(step_json(metrics.steps[i], static_cast<int64_t>(i) + 1));
  }
  return text_of(json);
}

RunMetrics run_metrics_from_json(const std::string& text, const std::string& origin) {
  return read_json(text, origin, read_run);
}

}  // namespace proca::protocol

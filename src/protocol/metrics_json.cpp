#include "protocol/metrics_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/files/read_json.h"

namespace proca::protocol {
namespace {

// A share in [0, 1], in files as percent.
template <typename Metrics, typename Value>
struct Figure {
  const char* key;
  Value Metrics::*value;
  double most_percent = 100;
};

constexpr Figure<RunMetrics, double> kRunFigures[] = {
    {"final_accuracy_percent", &RunMetrics::final_accuracy},
    {"mean_accuracy_percent", &RunMetrics::mean_accuracy},
    {"final_s1_accuracy_percent", &RunMetrics::final_s1_accuracy},
    {"mean_s1_accuracy_percent", &RunMetrics::mean_s1_accuracy},
    {"forgetting_percent", &RunMetrics::forgetting},
    {"backward_transfer_percent", &RunMetrics::backward_transfer},
};

// Left out where a run does not have them.
constexpr Figure<RunMetrics, std::optional<double>> kOptionalFigures[] = {
    {"mean_recall_percent", &RunMetrics::mean_recall},
    {"mean_precision_percent", &RunMetrics::mean_precision},
    {"pseudo_label_accuracy_percent", &RunMetrics::pseudo_label_accuracy},
};

constexpr Figure<StepMetrics, double> kStepFigures[] = {
    {"accuracy_percent", &StepMetrics::accuracy},
    {"s1_accuracy_percent", &StepMetrics::s1_accuracy},
    {"s1_accuracy_rounded_percent", &StepMetrics::s1_accuracy_rounded},
    {"accuracy_drop_percent", &StepMetrics::accuracy_drop},
    // From little to much accuracy it is far below -100 %.
    {"relative_accuracy_drop_percent", &StepMetrics::relative_accuracy_drop,
     std::numeric_limits<double>::max()},
};

// JSON has no NaN: the accuracy of a group without images is null.
Json percent(double share) { return std::isnan(share) ? Json() : Json(share * 100); }

Json percents(const std::vector<double>& shares) {
  auto list = Json::array();
  for (const double share : shares) list.push_back(percent(share));
  return list;
}

Json tally_json(const Tally& tally) {
  return {{"images", tally.num_images},
          {"correct", tally.num_correct},
          {"accuracy_percent", percent(tally.accuracy())}};
}

// What records and metrics of a step have in common.
template <typename Step>
void write_detection(Json& json, const Step& step) {
  if (const auto& detection = step.detection) {
    json["detection"] = {{"detected", detection->num_detected},
                         {"present", detection->num_present},
                         {"right", detection->num_right},
                         {"recall_percent", percent(detection->recall())},
                         {"precision_percent", percent(detection->precision())}};
  }
  if (step.pseudo_labels) json["pseudo_labels"] = tally_json(*step.pseudo_labels);
}

Json step_json(const StepMetrics& step, int64_t number) {
  Json json = {{"step", number}};
  for (const auto& figure : kStepFigures) json[figure.key] = percent(step.*figure.value);
  json["group_accuracy_percent"] = percents(step.group_accuracy);
  write_detection(json, step);
  return json;
}

// `reading` turns it into an `InputError` with the file.
[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

int64_t count(const Json& value, const char* name) {
  const auto number = whole_number(value, name);
  if (number < 0) refuse(fmt::format("{} is negative", name));
  return number;
}

int64_t count_of(const Json& json, const char* key) { return count(json.at(key), key); }

Tally read_tally(const Json& json) {
  const Tally tally{count_of(json, "images"), count_of(json, "correct")};
  if (tally.num_correct > tally.num_images) {
    refuse(fmt::format("{} of {} images are right", tally.num_correct, tally.num_images));
  }
  return tally;
}

template <typename Step>
void read_detection(const Json& json, Step& step) {
  if (json.contains("detection")) {
    const auto& read = json.at("detection");
    const DetectionQuality detection{count_of(read, "detected"), count_of(read, "present"),
                                     count_of(read, "right")};
    if (detection.num_right > std::min(detection.num_detected, detection.num_present)) {
      refuse("more classes are right than were detected or present");
    }
    step.detection = detection;
  }
  if (json.contains("pseudo_labels")) step.pseudo_labels = read_tally(json.at("pseudo_labels"));
}

// The counts must be those of the classes: each class's images, and its right ones.
std::vector<ConfusionCount> read_confusion(const Json& json,
                                           const std::vector<ClassAccuracy>& classes) {
  if (!json.is_array()) refuse("confusion is not a list");
  std::map<int64_t, Tally> tallies;
  std::vector<ConfusionCount> confusion;
  for (const auto& entry : json) {
    if (!entry.is_array() || entry.size() != 3) refuse("confusion has an entry that is no triple");
    const ConfusionCount pair{count(entry[0], "confusion"), count(entry[1], "confusion"),
                              count(entry[2], "confusion")};
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

StepRecord read_record(const Json& json) {
  StepRecord record;
  if (!json.at("classes").is_array()) refuse("classes is not a list");
  for (const auto& entry : json.at("classes")) {
    const auto tally = read_tally(entry);
    const auto label = count_of(entry, "label");
    if (!record.classes.empty() && label <= record.classes.back().label) {
      refuse(fmt::format("class {} is out of order", label));
    }
    record.classes.push_back({label, tally.num_images, tally.num_correct});
  }
  if (json.contains("confusion")) {
    record.confusion = read_confusion(json.at("confusion"), record.classes);
  }
  read_detection(json, record);
  return record;
}

// Null is the share of a group without images.
double share(const Json& value, const std::string& key, double most_percent = 100) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) refuse(key + " is not a number");
  const auto number = value.get<double>();
  if (!(std::abs(number) <= most_percent)) refuse(fmt::format("{} is {} percent", key, number));
  return number / 100;
}

template <typename Metrics>
void read_figures(const Json& json, std::span<const Figure<Metrics, double>> figures,
                  Metrics& metrics) {
  for (const auto& [key, value, most_percent] : figures) {
    metrics.*value = share(json.at(key), key, most_percent);
  }
}

std::vector<double> shares_of(const Json& json, const std::string& key) {
  if (!json.at(key).is_array()) refuse(key + " is not a list");
  std::vector<double> shares;
  for (const auto& value : json.at(key)) shares.push_back(share(value, key));
  return shares;
}

StepMetrics read_step(const Json& json, int64_t number) {
  if (count_of(json, "step") != number) refuse(fmt::format("step {} is missing", number));
  StepMetrics step;
  read_figures<StepMetrics>(json, kStepFigures, step);
  step.group_accuracy = shares_of(json, "group_accuracy_percent");
  read_detection(json, step);
  return step;
}

}  // namespace

std::string to_json(const StepRecord& record, const std::vector<std::string>& class_names) {
  Tally total;
  auto classes = Json::array();
  for (const auto& [label, num_images, num_correct] : record.classes) {
    total.num_images += num_images;
    total.num_correct += num_correct;
    classes.push_back({{"label", label},
                       {"class", class_names.at(static_cast<size_t>(label))},
                       {"images", num_images},
                       {"correct", num_correct}});
  }
  auto json = tally_json(total);
  json["classes"] = std::move(classes);
  for (const auto& [label, predicted, num_images] : record.confusion) {
    json["confusion"].push_back({label, predicted, num_images});
  }
  write_detection(json, record);
  return text_of(json, 2) + "\n";
}

StepRecord step_record_from_json(const std::string& text, const std::string& origin) {
  return reading(origin, [&] { return read_record(parse_json(text, origin)); });
}

std::string to_json(const RunMetrics& metrics) {
  Json json;
  for (const auto& figure : kRunFigures) json[figure.key] = percent(metrics.*figure.value);
  for (const auto& [key, value, most_percent] : kOptionalFigures) {
    if (metrics.*value) json[key] = percent(*(metrics.*value));
  }
  json["source_group_accuracy_percent"] = percents(metrics.source_group_accuracy);
  json["steps"] = Json::array();
  for (const auto& step : metrics.steps) {
    json["steps"].push_back(step_json(step, static_cast<int64_t>(json["steps"].size()) + 1));
  }
  return text_of(json, 2) + "\n";
}

RunMetrics run_metrics_from_json(const std::string& text, const std::string& origin) {
  return reading(origin, [&] {
    const auto json = parse_json(text, origin);
    RunMetrics metrics;
    read_figures<RunMetrics>(json, kRunFigures, metrics);
    for (const auto& [key, value, most_percent] : kOptionalFigures) {
      if (json.contains(key)) metrics.*value = share(json.at(key), key);
    }
    metrics.source_group_accuracy = shares_of(json, "source_group_accuracy_percent");
    if (!json.at("steps").is_array()) refuse("steps is not a list");
    for (const auto& step : json.at("steps")) {
      metrics.steps.push_back(read_step(step, static_cast<int64_t>(metrics.steps.size()) + 1));
    }
    if (metrics.steps.empty()) refuse("there is no step");
    return metrics;
  });
}

}  // namespace proca::protocol

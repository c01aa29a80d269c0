#include "report/collect/step_reader.h"

#include <algorithm>

#include "core/files/csv.h"
#include "core/parse_number.h"
#include "protocol/metrics_json.h"
#include "state/state_files.h"

namespace proca::report {
namespace {

// Names of files may have line breaks: a record ends at a line break outside quotes.
std::vector<std::string_view> csv_records(std::string_view text) {
  std::vector<std::string_view> records;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] != '\n' || quoted) continue;
    records.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  if (begin < text.size()) throw std::invalid_argument("the last line has no end");
  return records;
}

}  // namespace

StepReader::StepReader(const state::StateDirectory& state, int64_t step)
    : state_(state),
      step_(step),
      num_classes_(static_cast<int64_t>(state.manifest().model.class_names.size())) {
  if (!state_.has(name_of(state::kMetricsFile))) return;
  const auto origin = origin_of(state::kMetricsFile);
  record_ = protocol::step_record_from_json(state_.read_text(name_of(state::kMetricsFile)), origin);
  for (const auto& entry : record_->classes) check_label(entry.label, origin);
  for (const auto& entry : record_->confusion) check_label(entry.predicted, origin);
}

std::string StepReader::name_of(const char* file) const {
  return state::step_file_name(step_, file);
}

std::string StepReader::origin_of(const char* file) const {
  return (state_.folder() / name_of(file)).string();
}

void StepReader::check_label(int64_t label, const std::string& origin) const {
  if (label >= 0 && label < num_classes_) return;
  throw InputError(fmt::format("{}: is damaged: there is no class {}", origin, label));
}

int64_t StepReader::label_in(const std::string& field, const std::string& origin) const {
  const auto label = parse_whole_number(field, INT64_MIN);
  if (!label) throw std::invalid_argument(fmt::format("\"{}\" is no label", field));
  check_label(*label, origin);
  return *label;
}

std::vector<std::vector<std::string>> StepReader::rows_of(const char* file,
                                                          size_t num_fields) const {
  const auto text = state_.read_text(name_of(file));
  const auto records = csv_records(text);
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 1; i < records.size(); ++i) {  // The first has the names of the columns.
    auto fields = csv_fields(records[i]);
    if (!fields || fields->size() < num_fields) {
      throw std::invalid_argument(fmt::format("line {} is not one of a label", i + 1));
    }
    rows.push_back(std::move(*fields));
  }
  return rows;
}

Json StepReader::classes() const {
  if (!record_) return nullptr;
  auto classes = Json::array();
  for (const auto& [label, num_images, num_correct] : record_->classes) {
    classes.push_back({{"label", label}, {"images", num_images}, {"correct", num_correct}});
  }
  return classes;
}

Json StepReader::confusion() const {
  if (!record_ || record_->confusion.empty()) return nullptr;
  auto confusion = Json::array();
  for (const auto& [label, predicted, num_images] : record_->confusion) {
    confusion.push_back({label, predicted, num_images});
  }
  return confusion;
}

Json StepReader::detection(const std::vector<int64_t>* present) const {
  if (!state_.has(name_of(state::kDetectionFile))) return nullptr;
  const auto origin = origin_of(state::kDetectionFile);
  return reading(origin, [&] {
    const auto read = parse_json(state_.read_text(name_of(state::kDetectionFile)), origin);
    Json detection = {{"rule", read.at("rule").get<std::string>()},
                      {"threshold", read.at("threshold").get<double>()},
                      {"classes", Json::array()}};
    for (const auto& entry : read.at("classes")) {
      const auto label = whole_number(entry.at("label"));
      check_label(label, origin);
      Json shown = {{"label", label}};
      for (const auto* key : {"score", "cumulative_probability", "source_share"}) {
        shown[key] = entry.at(key).get<double>();
      }
      shown["detected"] = entry.at("detected").get<bool>();
      if (entry.contains("why")) shown["why"] = entry.at("why").get<std::string>();
      if (present != nullptr) {
        shown["present"] = std::find(present->begin(), present->end(), label) != present->end();
      }
      detection["classes"].push_back(std::move(shown));
    }
    return detection;
  });
}

Json StepReader::pseudo_labels() const {
  if (!state_.has(name_of(state::kPseudoLabelsFile))) return nullptr;
  const auto origin = origin_of(state::kPseudoLabelsFile);
  return reading(origin, [&] {
    std::vector<int64_t> counts(static_cast<size_t>(num_classes_));
    const auto rows = rows_of(state::kPseudoLabelsFile, 2);
    for (const auto& fields : rows) ++counts[static_cast<size_t>(label_in(fields[1], origin))];
    Json labels = {{"images", rows.size()}, {"counts", counts}};
    if (record_ && record_->pseudo_labels) {
      labels["correct"] = record_->pseudo_labels->num_correct;
    }
    return labels;
  });
}

std::map<std::string, int64_t> StepReader::label_of_name() const {
  std::map<std::string, int64_t> labels;
  if (!state_.has(name_of(state::kPseudoLabelsFile))) return labels;
  const auto origin = origin_of(state::kPseudoLabelsFile);
  reading(origin, [&] {
    for (const auto& fields : rows_of(state::kPseudoLabelsFile, 2)) {
      labels[fields[0]] = label_in(fields[1], origin);
    }
  });
  return labels;
}

std::vector<LabelledPrediction> StepReader::predictions() const {
  if (!state_.has(name_of(state::kPredictionsFile))) return {};
  const auto origin = origin_of(state::kPredictionsFile);
  return reading(origin, [&] {
    std::vector<LabelledPrediction> predictions;
    for (auto& fields : rows_of(state::kPredictionsFile, 3)) {
      predictions.push_back({.name = std::move(fields[0]),
                             .label = label_in(fields[1], origin),
                             .predicted = label_in(fields[2], origin)});
    }
    return predictions;
  });
}

Json StepReader::health() const {
  if (!state_.has(name_of(state::kHealthFile))) return nullptr;
  const auto origin = origin_of(state::kHealthFile);
  return reading(origin, [&] {
    const auto read = parse_json(state_.read_text(name_of(state::kHealthFile)), origin);
    const auto verdict = read.at("verdict").get<std::string>();
    if (verdict != "good" && verdict != "doubtful" && verdict != "refused") {
      throw std::invalid_argument(fmt::format("\"{}\" is no verdict", verdict));
    }
    Json health = {{"verdict", verdict}, {"reason", read.at("reason").get<std::string>()}};
    for (const auto* key : {"trust", "images", "classes_found", "agreement", "confidence_before",
                            "confidence_after", "changed", "unfitting"}) {
      if (!read.contains(key) || read.at(key).is_null()) continue;
      if (!read.at(key).is_number())
        throw std::invalid_argument(fmt::format("{} is no number", key));
      health[key] = read.at(key);
    }
    if (read.contains("kept_model"))
      health["kept_model"] = read.at("kept_model").get<std::string>();
    return health;
  });
}

std::optional<state::FeatureRecord> StepReader::features() const {
  if (!state_.has(name_of(state::kFeaturesFile))) return std::nullopt;
  const auto origin = origin_of(state::kFeaturesFile);
  auto features = state::FeatureRecord::load(
      state_.read_tensors(name_of(state::kFeaturesFile)).tensors, origin);
  for (const auto* labels : {&features.labels, &features.pseudo_labels, &features.predicted}) {
    for (const int64_t label : *labels) {
      if (label >= 0) check_label(label, origin);
    }
  }
  return features;
}

}  // namespace proca::report

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/files/read_json.h"
#include "proca/state/feature_record.h"
#include "proca/state/state_directory.h"
#include "protocol/run_metrics.h"
#include "report/images/mistakes.h"

namespace proca::report {

/// The records of one step of a state, each as in docs/formats/report_data.md, or null
/// if the step has none. All throw `InputError` naming a file that is damaged.
class StepReader {
 public:
  /// Step 0 is the source model.
  StepReader(const state::StateDirectory& state, int64_t step);

  /// `metrics.json`, if the step was measured.
  const std::optional<protocol::StepRecord>& record() const { return record_; }
  Json classes() const;
  Json confusion() const;
  /// `present`: labels of the classes in the images; null if not known.
  Json detection(const std::vector<int64_t>* present) const;
  Json pseudo_labels() const;
  /// What the program made of the step: `health.json`.
  Json health() const;
  /// What was predicted for each labelled image; empty if that was not written.
  std::vector<LabelledPrediction> predictions() const;
  /// The labels that the step gave to its images, by name.
  std::map<std::string, int64_t> label_of_name() const;
  /// The features, if they were recorded.
  std::optional<state::FeatureRecord> features() const;

 private:
  std::string name_of(const char* file) const;
  std::string origin_of(const char* file) const;
  void check_label(int64_t label, const std::string& origin) const;
  int64_t label_in(const std::string& field, const std::string& origin) const;
  /// The rows of a file of the step below its first line, with at least so many fields each.
  std::vector<std::vector<std::string>> rows_of(const char* file, size_t num_fields) const;

  const state::StateDirectory& state_;
  int64_t step_;
  int64_t num_classes_;
  std::optional<protocol::StepRecord> record_;
};

}  // namespace proca::report

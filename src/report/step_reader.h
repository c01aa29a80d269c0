#pragma once

#include <optional>
#include <vector>

#include "proca/engine/feature_record.h"
#include "proca/engine/state_directory.h"
#include "proca/protocol/run_metrics.h"
#include "report_json.h"

namespace proca::report {

/// The records of one step of a state, each as docs/formats/report_data.md words it, or null
/// if the step has none. All throw `InputError` naming a file that is damaged.
class StepReader {
 public:
  /// Step 0 is the source model.
  StepReader(const engine::StateDirectory& state, int64_t step);

  /// `metrics.json`, if the step was measured.
  const std::optional<protocol::StepRecord>& record() const { return record_; }
  Json classes() const;
  Json confusion() const;
  /// `present`: labels that truly are; nothing if nobody knows.
  Json detection(const std::vector<int64_t>* present) const;
  Json pseudo_labels() const;
  /// The features, if they were recorded.
  std::optional<engine::FeatureRecord> features() const;

 private:
  std::string name_of(const char* file) const;
  std::string origin_of(const char* file) const;
  void check_label(int64_t label, const std::string& origin) const;

  const engine::StateDirectory& state_;
  int64_t step_;
  int64_t num_classes_;
  std::optional<protocol::StepRecord> record_;
};

}  // namespace proca::report

#pragma once

#include <string>
#include <vector>

#include "experiments/target_steps.h"
#include "proca/engine/adapter.h"
#include "proca/engine/inference.h"
#include "protocol/run_metrics.h"

namespace proca::experiments {

/// Measures an adapter's network on the target images, whose labels are read here and nowhere
/// else, and writes the results into the state: `steps/NN/metrics.json`,
/// `steps/NN/predictions.csv`, `steps/NN/features.safetensors` and the event `evaluation`.
class StepMeasure {
 public:
  /// `origin` names the run in errors. All references must outlive this.
  StepMeasure(const TargetSteps& target, const std::vector<std::string>& class_names,
              const engine::Adapter& adapter, engine::AdapterParts parts, std::string origin);

  /// The record of a finished step (0: the source model), measured unless the state has it.
  /// `before` are the records of the steps before it, from step 1 on.
  protocol::StepRecord record_of(int64_t step, const std::vector<protocol::StepRecord>& before);
  /// Measures the step that has just ended.
  protocol::StepRecord measure(int64_t step, const std::vector<protocol::StepRecord>& before);

 private:
  protocol::StepRecord to_record(const engine::Evaluation& evaluation,
                                 const methods::StepDecisions* decisions, int64_t step) const;
  state::FeatureSets features_of(const engine::Evaluation& evaluation,
                                 const std::vector<int64_t>& evaluated,
                                 const std::vector<int64_t>& shown,
                                 const std::vector<int64_t>& prototypes,
                                 const methods::StepDecisions* decisions, int64_t step);
  state::FeaturePoints points_of(const engine::Evaluation& evaluation,
                                 const std::vector<int64_t>& evaluated,
                                 const std::vector<int64_t>& images) const;
  void label_target(state::FeaturePoints& points, const std::vector<int64_t>& shown,
                    const methods::StepDecisions* decisions, int64_t step) const;
  void label_prototypes(state::FeaturePoints& prototypes) const;
  void write_evaluation(int64_t step, std::vector<protocol::StepRecord> records,
                        const protocol::StepRecord& record) const;

  const TargetSteps& target_;
  const std::vector<std::string>& class_names_;
  const engine::Adapter& adapter_;
  engine::AdapterParts parts_;
  std::string origin_;
  std::vector<protocol::ClassAccuracy> source_classes_;  // by the source model
};

}  // namespace proca::experiments

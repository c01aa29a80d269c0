#pragma once

#include <string>
#include <vector>

#include "experiments/target_steps.h"
#include "proca/engine/adapter.h"
#include "proca/engine/inference.h"
#include "protocol/run_metrics.h"

namespace proca::experiments {

/// Measures an adapter's network on the target images, whose labels are read here and nowhere
/// else, and puts what it found into the state: `steps/NN/metrics.json`,
/// `steps/NN/features.safetensors` and an event.
class StepMeasure {
 public:
  /// `inference` says how images are looked at, `origin` what errors call the run. `target`
  /// and `class_names` must outlive this.
  StepMeasure(const TargetSteps& target, const std::vector<std::string>& class_names,
              engine::InferenceOptions inference, std::string origin);

  /// What is known of a finished step (0: of the source model), measured unless the state has
  /// it. `before` has what is known of those before it, from step 1 on.
  protocol::StepRecord record_of(engine::Adapter& adapter, int64_t step,
                                 const std::vector<protocol::StepRecord>& before);
  /// The same, measured anew: of a step that has just ended.
  protocol::StepRecord measure(engine::Adapter& adapter, int64_t step,
                               const std::vector<protocol::StepRecord>& before);

 private:
  protocol::StepRecord record_of(const engine::Evaluation& evaluation,
                                 const methods::StepDecisions* decisions, int64_t step) const;
  state::FeaturePoints looks_at(const engine::Evaluation& evaluation,
                                const std::vector<int64_t>& looked_at,
                                const std::vector<int64_t>& images) const;
  void label_target(state::FeaturePoints& points, const std::vector<int64_t>& shown,
                    const methods::StepDecisions* decisions, int64_t step) const;
  void label_prototypes(state::FeaturePoints& prototypes) const;
  void write_evaluation(engine::Adapter& adapter, int64_t step,
                        std::vector<protocol::StepRecord> records,
                        const protocol::StepRecord& record) const;

  const TargetSteps& target_;
  const std::vector<std::string>& class_names_;
  engine::InferenceOptions inference_;
  std::string origin_;
  std::vector<protocol::ClassAccuracy> source_classes_;  // by the source model
};

}  // namespace proca::experiments

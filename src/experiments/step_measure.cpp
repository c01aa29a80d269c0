#include "experiments/step_measure.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <set>

#include <fmt/format.h>
#include <torch/types.h>

#include "engine/state_session.h"
#include "engine/step_features.h"
#include "engine/step_inputs.h"
#include "protocol/metrics_json.h"
#include "state/state_files.h"
#include "state/state_saver.h"
#include "state/step_files.h"

namespace proca::experiments {
namespace {

// At most as many as a record shows, evenly spread.
std::vector<int64_t> shown_of(const std::vector<int64_t>& images) {
  std::vector<int64_t> shown;
  for (const int64_t i : state::evenly_spread(static_cast<int64_t>(images.size()),
                                              state::FeatureRecord::kMostTarget)) {
    shown.push_back(images[static_cast<size_t>(i)]);
  }
  return shown;
}

}  // namespace

StepMeasure::StepMeasure(const TargetSteps& target, const std::vector<std::string>& class_names,
                         const engine::Adapter& adapter, engine::AdapterParts parts,
                         std::string origin)
    : target_(target),
      class_names_(class_names),
      adapter_(adapter),
      parts_(std::move(parts)),
      origin_(std::move(origin)) {}

protocol::StepRecord StepMeasure::record_of(int64_t step,
                                            const std::vector<protocol::StepRecord>& before) {
  const auto text = parts_.session->step_file(step, state::kMetricsFile);
  if (!text) return measure(step, before);
  auto record = protocol::step_record_from_json(
      *text, fmt::format("{}: {} of step {}", origin_, state::kMetricsFile, step));
  if (step == 0) source_classes_ = record.classes;
  return record;
}

protocol::StepRecord StepMeasure::measure(int64_t step,
                                          const std::vector<protocol::StepRecord>& before) {
  const auto shown = shown_of(target_.seen(step));
  std::vector<int64_t> prototypes;
  if (const auto* memory = adapter_.memory()) {
    prototypes = target_.named(engine::shown_prototypes(*memory));
  }
  std::set<int64_t> both(shown.begin(), shown.end());
  both.insert(prototypes.begin(), prototypes.end());
  const std::vector<int64_t> evaluated(both.begin(), both.end());
  const auto evaluation = engine::evaluate_with_features(adapter_.network(), target_.store(),
                                                         adapter_.manifest().model.preprocessing,
                                                         parts_.inputs->inference(), evaluated);
  const auto* decisions = step > 0 ? adapter_.decisions() : nullptr;
  auto record = to_record(evaluation, decisions, step);
  auto features = features_of(evaluation, evaluated, shown, prototypes, decisions, step);
  if (step == 0) {
    source_classes_ = record.classes;
  } else {
    write_evaluation(step, before, record);
  }
  state::StateChange change;
  change.texts.emplace_back(state::step_file_name(step, state::kMetricsFile),
                            protocol::to_json(record, class_names_));
  change.texts.emplace_back(state::step_file_name(step, state::kPredictionsFile),
                            state::predictions_csv(evaluation.predictions, target_.store()));
  // Computed while the step itself is being written.
  change.computed.emplace_back(
      state::step_file_name(step, state::kFeaturesFile),
      [record = std::async(std::launch::async, [features = std::move(features)] {
                  return state::make_feature_record(features).save();
                }).share()] { return record.get(); });
  parts_.session->commit(std::move(change));
  return record;
}

state::FeatureSets StepMeasure::features_of(const engine::Evaluation& evaluation,
                                            const std::vector<int64_t>& evaluated,
                                            const std::vector<int64_t>& shown,
                                            const std::vector<int64_t>& prototypes,
                                            const methods::StepDecisions* decisions, int64_t step) {
  auto features = engine::reference_points(adapter_, *parts_.inputs,
                                           points_of(evaluation, evaluated, prototypes));
  features.target = points_of(evaluation, evaluated, shown);
  label_target(features.target, shown, decisions, step);
  label_prototypes(features.prototypes);
  return features;
}

protocol::StepRecord StepMeasure::to_record(const engine::Evaluation& evaluation,
                                            const methods::StepDecisions* decisions,
                                            int64_t step) const {
  protocol::StepRecord record;
  record.classes = evaluation.report.classes;
  record.confusion = evaluation.report.confusion;
  // The schedule also has classes without images.
  for (const int64_t label : target_.schedule().all()) {
    const auto known = std::any_of(record.classes.begin(), record.classes.end(),
                                   [&](const auto& entry) { return entry.label == label; });
    if (!known) record.classes.push_back({.label = label, .num_images = 0, .num_correct = 0});
  }
  std::sort(record.classes.begin(), record.classes.end(),
            [](const auto& a, const auto& b) { return a.label < b.label; });
  if (decisions == nullptr) return record;
  record.detection = protocol::measure_detection(
      decisions->shared_classes.classes, target_.schedule().steps[static_cast<size_t>(step - 1)]);
  const auto& images = target_.step(step);
  const auto* labels = decisions->pseudo_labels.labels.data_ptr<int64_t>();
  protocol::Tally tally{.num_images = static_cast<int64_t>(images.size())};
  for (size_t i = 0; i < images.size(); ++i) {
    if (labels[i] == target_.store().sample(images[i]).label) ++tally.num_correct;
  }
  record.pseudo_labels = tally;
  return record;
}

// The points of `images`, which are among the `evaluated` ones (ascending).
state::FeaturePoints StepMeasure::points_of(const engine::Evaluation& evaluation,
                                            const std::vector<int64_t>& evaluated,
                                            const std::vector<int64_t>& images) const {
  state::FeaturePoints points;
  std::vector<int64_t> rows;
  for (const int64_t i : images) {
    rows.push_back(std::lower_bound(evaluated.begin(), evaluated.end(), i) - evaluated.begin());
    points.predicted.push_back(evaluation.predictions[static_cast<size_t>(i)]);
    points.names.push_back(target_.store().sample(i).path);
  }
  points.features = evaluation.features.index_select(0, torch::tensor(rows, torch::kInt64));
  return points;
}

void StepMeasure::label_target(state::FeaturePoints& points, const std::vector<int64_t>& shown,
                               const methods::StepDecisions* decisions, int64_t step) const {
  std::map<int64_t, int64_t> pseudo_labels;  // of this step's images
  if (decisions != nullptr) {
    const auto* labels = decisions->pseudo_labels.labels.data_ptr<int64_t>();
    for (const int64_t i : target_.step(step)) pseudo_labels[i] = *labels++;
  }
  for (const int64_t i : shown) {
    const auto pseudo_label = pseudo_labels.find(i);
    points.labels.push_back(target_.store().sample(i).label);
    points.pseudo_labels.push_back(pseudo_label == pseudo_labels.end() ? -1 : pseudo_label->second);
  }
}

// Adaptation does not know the true class of a prototype.
void StepMeasure::label_prototypes(state::FeaturePoints& prototypes) const {
  for (const auto& name : prototypes.names) {
    const auto image = target_.named({name});
    prototypes.labels.push_back(image.empty() ? -1 : target_.store().sample(image[0]).label);
  }
}

void StepMeasure::write_evaluation(int64_t step, std::vector<protocol::StepRecord> records,
                                   const protocol::StepRecord& record) const {
  records.push_back(record);
  const auto metrics =
      protocol::summarise(target_.schedule(), source_classes_, records).steps.back();
  std::vector<state::EventField> fields = {{"step", step}};
  const auto add = [&](const std::string& name, double share) {
    if (!std::isnan(share)) fields.emplace_back(name, share * 100);
  };
  add("accuracy_percent", metrics.accuracy);
  add("s1_accuracy_percent", metrics.s1_accuracy);
  add("accuracy_drop_percent", metrics.accuracy_drop);
  if (metrics.pseudo_labels) {
    add("pseudo_label_accuracy_percent", metrics.pseudo_labels->accuracy());
  }
  parts_.session->events().write("evaluation", fields);
}

}  // namespace proca::experiments

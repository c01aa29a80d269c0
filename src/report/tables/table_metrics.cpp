#include "report/tables/table_metrics.h"

#include <map>
#include <stdexcept>

namespace proca::report {

using protocol::TableMetric;

std::string title_of(TableMetric metric) {
  static const std::map<TableMetric, std::string> titles = {
      {TableMetric::kFinal, "Final accuracy"},
      {TableMetric::kFinalS1, "Final S-1 accuracy"},
      {TableMetric::kStepAccuracy, "Accuracy after each step"},
      {TableMetric::kS1Accuracy, "S-1 accuracy after each step"},
      {TableMetric::kPseudoLabels, "Accuracy of the pseudo-labels"},
      {TableMetric::kRecall, "Classes found, of those present"},
      {TableMetric::kPrecision, "Classes present, of those found"},
      {TableMetric::kDrop, "Drop of S-1 accuracy since the first step"},
  };
  return titles.at(metric);
}

namespace {

// Nothing for methods that detect no classes.
std::optional<double> percent_of(const std::optional<double>& share) {
  if (!share) return std::nullopt;
  return 100 * *share;
}

}  // namespace

std::optional<double> value_of(TableMetric metric, const protocol::RunMetrics& run) {
  switch (metric) {
    case TableMetric::kFinal:
      return 100 * run.final_accuracy;
    case TableMetric::kFinalS1:
      return 100 * run.final_s1_accuracy;
    case TableMetric::kStepAccuracy:
      return 100 * run.mean_accuracy;
    case TableMetric::kS1Accuracy:
      return 100 * run.mean_s1_accuracy;
    case TableMetric::kPseudoLabels:
      // Without pseudo-labels the model's own predictions take their place.
      return 100 * run.pseudo_label_accuracy.value_or(run.final_accuracy);
    case TableMetric::kRecall:
      return percent_of(run.mean_recall);
    case TableMetric::kPrecision:
      return percent_of(run.mean_precision);
    case TableMetric::kDrop:
      return value_at(metric, run, static_cast<int64_t>(run.steps.size()));
  }
  throw std::invalid_argument("value_of: no such metric");
}

std::optional<double> value_at(TableMetric metric, const protocol::RunMetrics& run, int64_t step) {
  if (step < 1 || step > static_cast<int64_t>(run.steps.size())) return std::nullopt;
  const auto& metrics = run.steps[static_cast<size_t>(step - 1)];
  switch (metric) {
    case TableMetric::kFinal:
    case TableMetric::kStepAccuracy:
      return 100 * metrics.accuracy;
    case TableMetric::kFinalS1:
    case TableMetric::kS1Accuracy:
      return 100 * metrics.s1_accuracy;
    case TableMetric::kPseudoLabels:
      return 100 * (metrics.pseudo_labels ? metrics.pseudo_labels->accuracy() : metrics.accuracy);
    case TableMetric::kRecall:
    case TableMetric::kPrecision:
      return std::nullopt;  // No view has a column per step of these.
    case TableMetric::kDrop:
      return 100 * metrics.accuracy_drop;
  }
  throw std::invalid_argument("value_at: no such metric");
}

}  // namespace proca::report

#include "protocol/experiment_words.h"

#include <algorithm>

namespace proca::protocol {
namespace {

constexpr NamedWord<TableView> kViews[] = {
    {"tasks", TableView::kTasks},
    {"steps", TableView::kSteps},
    {"task-steps", TableView::kTaskSteps},
    {"sweep", TableView::kSweep},
    {"detected-classes", TableView::kDetectedClasses},
    {"bars", TableView::kBars},
    {"drop", TableView::kDrop},
};

constexpr NamedWord<TableMetric> kMetrics[] = {
    {"final", TableMetric::kFinal},
    {"final-s1", TableMetric::kFinalS1},
    {"step-accuracy", TableMetric::kStepAccuracy},
    {"s1-accuracy", TableMetric::kS1Accuracy},
    {"pseudo-labels", TableMetric::kPseudoLabels},
    {"drop", TableMetric::kDrop},
};

template <typename T>
std::string_view word_for(std::span<const NamedWord<T>> words, T value) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const auto& word) { return word.value == value; });
  return found->name;
}

}  // namespace

std::span<const NamedWord<TableView>> view_words() { return kViews; }
std::span<const NamedWord<TableMetric>> metric_words() { return kMetrics; }

std::vector<TableMetric> metrics_of(TableView view) {
  using enum TableMetric;
  switch (view) {
    case TableView::kTasks:
    case TableView::kSweep:
      return {kFinal, kFinalS1, kPseudoLabels};
    case TableView::kSteps:
    case TableView::kTaskSteps:
      return {kStepAccuracy, kS1Accuracy};
    case TableView::kDrop:
      return {TableMetric::kDrop};
    case TableView::kDetectedClasses:
    case TableView::kBars:
      return {};
  }
  return {};
}

std::string_view name_of(TableView view) { return word_for(view_words(), view); }
std::string_view name_of(TableMetric metric) { return word_for(metric_words(), metric); }

}  // namespace proca::protocol

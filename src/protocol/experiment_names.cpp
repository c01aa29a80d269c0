#include <stdexcept>

#include "proca/protocol/experiment.h"

namespace proca::protocol {

std::string_view name_of(TableView view) {
  switch (view) {
    case TableView::kTasks:
      return "tasks";
    case TableView::kSteps:
      return "steps";
    case TableView::kTaskSteps:
      return "task-steps";
    case TableView::kSweep:
      return "sweep";
    case TableView::kDetectedClasses:
      return "detected-classes";
    case TableView::kBars:
      return "bars";
    case TableView::kDrop:
      return "drop";
  }
  throw std::invalid_argument("name_of: no such view");
}

std::string_view name_of(TableMetric metric) {
  switch (metric) {
    case TableMetric::kFinal:
      return "final";
    case TableMetric::kFinalS1:
      return "final-s1";
    case TableMetric::kStepAccuracy:
      return "step-accuracy";
    case TableMetric::kS1Accuracy:
      return "s1-accuracy";
    case TableMetric::kPseudoLabels:
      return "pseudo-labels";
    case TableMetric::kDrop:
      return "drop";
  }
  throw std::invalid_argument("name_of: no such metric");
}

}  // namespace proca::protocol

#pragma once

#include <string>
#include <vector>

#include "report/tables/comparison_table.h"

namespace proca::test {

/// A run with these accuracies after its steps, in [0, 1]; nothing detected.
inline report::RunResult result_of(const std::string& run, const std::string& task, int64_t seed,
                                   const std::vector<double>& accuracies,
                                   const std::vector<double>& s1_accuracies) {
  report::RunResult result{.run = run, .task = task, .seed = seed, .metrics = {}};
  auto& metrics = result.metrics;
  for (size_t i = 0; i < accuracies.size(); ++i) {
    auto& step = metrics.steps.emplace_back();
    step.accuracy = accuracies[i];
    step.s1_accuracy = s1_accuracies[i];
    step.accuracy_drop = s1_accuracies[0] - s1_accuracies[i];
    metrics.mean_accuracy += accuracies[i] / static_cast<double>(accuracies.size());
    metrics.mean_s1_accuracy += s1_accuracies[i] / static_cast<double>(accuracies.size());
  }
  metrics.final_accuracy = accuracies.back();
  metrics.final_s1_accuracy = s1_accuracies.back();
  return result;
}

/// Two tasks and two seeds; the view's metrics and runs are up to the test.
inline protocol::Experiment experiment_of(protocol::TableView view,
                                          std::vector<protocol::TableMetric> metrics,
                                          const std::vector<std::string>& runs) {
  protocol::Experiment experiment;
  experiment.name = "mine";
  experiment.title = "My table";
  experiment.view = view;
  experiment.metrics = std::move(metrics);
  experiment.seeds = {0, 1};
  experiment.tasks = {{"A->W", "amazon", "webcam"}, {"W->A", "webcam", "amazon"}};
  for (const auto& label : runs) experiment.runs.push_back({.label = label, .method = "proca"});
  return experiment;
}

inline report::PaperNumbers paper_of(const std::string& lines) {
  return report::PaperNumbers::parse("block,row,column,value,note\n" + lines, "paper.csv");
}

}  // namespace proca::test

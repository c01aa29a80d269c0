#include "report/tables/result_grid.h"

#include <algorithm>
#include <cmath>

namespace proca::report {

ResultGrid::ResultGrid(const protocol::Experiment& experiment, std::span<const RunResult> results)
    : seeds_(experiment.seeds) {
  for (const auto& result : results) {
    results_.emplace(std::tuple(result.run, result.task, result.seed), &result);
    num_steps_ = std::max(num_steps_, static_cast<int64_t>(result.metrics.steps.size()));
  }
}

Cell ResultGrid::cell(const std::string& run, std::span<const std::string> tasks,
                      const Figure& figure) const {
  std::vector<double> means;
  for (const int64_t seed : seeds_) {
    double sum = 0;
    for (const auto& task : tasks) {
      const auto* result = find(run, task, seed);
      const auto value = result == nullptr ? std::nullopt : figure(*result);
      sum += value.value_or(std::nan(""));  // and so the mean of this seed is none
    }
    if (!std::isnan(sum)) means.push_back(sum / static_cast<double>(tasks.size()));
  }
  if (means.empty()) return {};
  const auto [mean, std] = protocol::mean_std(means);
  return {.mean = mean, .std = std, .count = static_cast<int64_t>(means.size())};
}

const RunResult* ResultGrid::first(const std::string& run, const std::string& task) const {
  for (const int64_t seed : seeds_) {
    if (const auto* result = find(run, task, seed)) return result;
  }
  return nullptr;
}

const RunResult* ResultGrid::find(const std::string& run, const std::string& task,
                                  int64_t seed) const {
  const auto found = results_.find({run, task, seed});
  return found == results_.end() ? nullptr : found->second;
}

}  // namespace proca::report

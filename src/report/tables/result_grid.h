#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "report/tables/comparison_table.h"

namespace proca::report {

/// The results of an experiment's runs, and means over them.
class ResultGrid {
 public:
  ResultGrid(const protocol::Experiment& experiment, std::span<const RunResult> results);

  /// What is measured of a run; nothing if the run does not have it.
  using Figure = std::function<std::optional<double>(const RunResult&)>;

  /// The mean over the tasks for each seed, then over the seeds.
  Cell cell(const std::string& run, std::span<const std::string> tasks, const Figure& figure) const;

  /// Of the first seed that has one; null if there is none.
  const RunResult* first(const std::string& run, const std::string& task) const;

  /// Of the longest run.
  int64_t num_steps() const { return num_steps_; }

 private:
  const RunResult* find(const std::string& run, const std::string& task, int64_t seed) const;

  std::vector<int64_t> seeds_;
  std::map<std::tuple<std::string, std::string, int64_t>, const RunResult*> results_;
  int64_t num_steps_ = 0;
};

}  // namespace proca::report

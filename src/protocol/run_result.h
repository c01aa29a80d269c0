#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/run_metrics.h"

namespace proca::protocol {

/// Which classes a step of a run detected.
struct DetectedStep {
  std::vector<int64_t> detected = {};   ///< labels
  std::vector<int64_t> present = {};    ///< labels
  std::vector<double> cumulative = {};  ///< cumulative probability by label, in [0, 1]
  double threshold = 0;
};

/// The result of one run of an experiment: one row and task of its table, with one seed.
struct RunResult {
  std::string run;   ///< label of the row
  std::string task;  ///< label of the task
  int64_t seed = 0;
  RunMetrics metrics = {};
  std::vector<DetectedStep> detection = {};  ///< by step; empty if the method detects none
};

}  // namespace proca::protocol

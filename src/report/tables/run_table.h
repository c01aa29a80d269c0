#pragma once

#include <string>
#include <vector>

#include "protocol/run_metrics.h"

namespace proca::report {

/// The runs of one method, one per seed, as text: a row per step with Step-level and
/// S-1 accuracy, drop, detection recall and precision, pseudo-label accuracy, then
/// Final, forgetting and backward transfer; mean ± standard deviation when there
/// are several. Fits 80 columns.
std::string run_table(const std::string& title, const std::vector<protocol::RunMetrics>& runs);

/// Accuracy after each step (rows, the source model first) on each step's classes
/// (columns), in percent; mean over the runs.
std::string group_matrix(const std::vector<protocol::RunMetrics>& runs);

}  // namespace proca::report

#pragma once

#include <string>
#include <vector>

#include "protocol/run_metrics.h"

namespace proca::protocol {

/// `metrics.json` of a step: the counts per class that everything else follows
/// from, with the classes' names, detection and pseudo-labels where there are any,
/// and the accuracy over all images of the record: also of classes still to come,
/// so it is not the Step-level accuracy.
std::string to_json(const StepRecord& record, const std::vector<std::string>& class_names);

/// Reads it back. Throws `InputError` naming `origin` when it is damaged.
StepRecord step_record_from_json(const std::string& text, const std::string& origin);

/// Everything in `RunMetrics`, accuracies in percent.
std::string to_json(const RunMetrics& metrics);

/// Reads it back; an accuracy that is null is NaN. Throws `InputError` naming `origin`
/// when it is damaged.
RunMetrics run_metrics_from_json(const std::string& text, const std::string& origin);

}  // namespace proca::protocol

#pragma once

#include <optional>
#include <string>

#include "protocol/experiment.h"
#include "protocol/run_metrics.h"

namespace proca::report {

/// As the title of a table.
std::string title_of(protocol::TableMetric metric);

/// Of a whole run, in percent.
std::optional<double> value_of(protocol::TableMetric metric, const protocol::RunMetrics& run);

/// After a step (from 1), in percent; nothing if the run did not get there.
std::optional<double> value_at(protocol::TableMetric metric, const protocol::RunMetrics& run,
                               int64_t step);

}  // namespace proca::report

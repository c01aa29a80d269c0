#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "protocol/experiment.h"

namespace proca::protocol {

/// A word of an experiment's file and what it stands for.
template <typename T>
struct NamedWord {
  std::string_view name;
  T value;
};

std::span<const NamedWord<TableView>> view_words();
std::span<const NamedWord<TableMetric>> metric_words();

/// The metrics that a view can show; the first is what it shows when none is named.
std::vector<TableMetric> metrics_of(TableView view);

}  // namespace proca::protocol

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/tables/result_grid.h"

namespace proca::report {

/// Labels in ascending order, three and more neighbours as a range; those that are not
/// present in parentheses: `0-2 9 (12)`. A dash if there are none.
std::string show_classes(std::span<const int64_t> detected, std::span<const int64_t> present);

/// The blocks of `TableView::kDetectedClasses`: one per task.
std::vector<TableBlock> detected_classes_blocks(const protocol::Experiment& experiment,
                                                const ResultGrid& grid, int64_t num_steps);

/// The blocks of `TableView::kBars`: one per task, run and finished step.
std::vector<TableBlock> bar_blocks(const protocol::Experiment& experiment, const ResultGrid& grid);

}  // namespace proca::report

#include "report/tables/comparison_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/tables/detection_blocks.h"
#include "report/tables/result_grid.h"
#include "report/tables/table_metrics.h"

namespace proca::report {
namespace {

using protocol::Experiment;
using protocol::TableMetric;
using protocol::TableView;
using Words = std::vector<std::string>;

const std::string kAverage = "Avg";

Words task_labels(const Experiment& experiment) {
  Words labels;
  for (const auto& task : experiment.tasks) labels.push_back(task.label);
  return labels;
}

class TableMaker {
 public:
  TableMaker(const Experiment& experiment, std::span<const RunResult> results,
             const PaperNumbers& paper)
      : experiment_(experiment),
        tasks_(task_labels(experiment)),
        grid_(experiment, results),
        paper_(paper) {}

  ComparisonTable make() const {
    ComparisonTable table{.title = experiment_.title, .paper = experiment_.paper, .blocks = {}};
    table.blocks = blocks();
    for (auto& block : table.blocks) {
      for (auto& row : block.rows) {
        for (size_t i = 0; i < block.columns.size(); ++i) {
          row.cells[i].paper = paper_.find(block.name, row.label, block.columns[i]);
        }
      }
    }
    return table;
  }

 private:
  std::vector<TableBlock> blocks() const {
    std::vector<TableBlock> made;
    switch (experiment_.view) {
      case TableView::kTasks:
        for (const auto metric : experiment_.metrics) made.push_back(tasks_block(metric));
        break;
      case TableView::kSteps:
        for (const auto metric : experiment_.metrics) {
          made.push_back(
              steps_block(std::string(name_of(metric)), title_of(metric), metric, tasks_));
        }
        break;
      case TableView::kTaskSteps:
        for (const auto& task : tasks_) {
          for (const auto metric : experiment_.metrics) {
            made.push_back(steps_block(fmt::format("{} {}", task, name_of(metric)),
                                       fmt::format("{}, {}", task, title_of(metric)), metric,
                                       {&task, 1}));
          }
        }
        break;
      case TableView::kDrop:
        return {steps_block("drop", title_of(TableMetric::kDrop), TableMetric::kDrop, tasks_)};
      case TableView::kSweep:
        return sweep_blocks();
      case TableView::kDetectedClasses:
        return detected_classes_blocks(
            experiment_, grid_, count_steps([&](const auto& run, int64_t step) {
              return std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
                const auto row = fmt::format("{} step {}", run.label, step);
                return paper_.find(task, row, "classes").has_value();
              });
            }));
      case TableView::kBars:
        return bar_blocks(experiment_, grid_);
    }
    return made;
  }

  Cell cell(const std::string& run, std::span<const std::string> tasks, TableMetric metric) const {
    return grid_.cell(
        run, tasks, [metric](const RunResult& result) { return value_of(metric, result.metrics); });
  }

  TableBlock tasks_block(TableMetric metric) const {
    TableBlock block{
        .name = std::string(name_of(metric)), .title = title_of(metric), .columns = tasks_};
    block.columns.push_back(kAverage);
    for (const auto& run : experiment_.runs) {
      auto& row = block.rows.emplace_back(run.label, std::vector<Cell>());
      for (const auto& task : tasks_) row.cells.push_back(cell(run.label, {&task, 1}, metric));
      row.cells.push_back(cell(run.label, tasks_, metric));
    }
    return block;
  }

  TableBlock steps_block(std::string name, std::string title, TableMetric metric,
                         std::span<const std::string> tasks) const {
    TableBlock block{.name = std::move(name), .title = std::move(title), .columns = {}};
    const auto num_steps = count_steps([&](const auto& run, int64_t step) {
      return paper_.find(block.name, run.label, std::to_string(step)).has_value();
    });
    for (int64_t step = 1; step <= num_steps; ++step) block.columns.push_back(std::to_string(step));
    const bool is_drop = metric == TableMetric::kDrop;  // of which there is no mean
    if (is_drop) block.best = Best::kLowestOfColumn;
    if (!is_drop) block.columns.push_back(kAverage);
    for (const auto& run : experiment_.runs) {
      auto& row = block.rows.emplace_back(run.label, std::vector<Cell>());
      row.competes = !is_drop || run.method != "source-only";
      for (int64_t step = 1; step <= num_steps; ++step) {
        row.cells.push_back(grid_.cell(run.label, tasks, [&](const RunResult& result) {
          return value_at(metric, result.metrics, step);
        }));
      }
      if (is_drop) continue;
      row.cells.push_back(grid_.cell(run.label, tasks, [&](const RunResult& result) {
        return mean_of_steps(metric, result.metrics, num_steps);
      }));
    }
    return block;
  }

  // Nothing for an unfinished run.
  static std::optional<double> mean_of_steps(TableMetric metric, const protocol::RunMetrics& run,
                                             int64_t num_steps) {
    double sum = 0;
    for (int64_t step = 1; step <= num_steps; ++step) {
      const auto value = value_at(metric, run, step);
      if (!value) return std::nullopt;
      sum += *value;
    }
    return sum / static_cast<double>(num_steps);
  }

  std::vector<TableBlock> sweep_blocks() const {
    const auto over =
        tasks_.size() == 1 ? tasks_.front() : fmt::format("mean of {}", fmt::join(tasks_, ", "));
    std::vector<TableBlock> made;
    for (const auto& run : experiment_.runs) {
      // "lambda = 0.1" belongs to lambda; runs that sweep nothing stand by themselves.
      const auto equals = run.label.find(" = ");
      const auto option = equals == std::string::npos ? "runs" : run.label.substr(0, equals);
      auto block = std::find_if(made.begin(), made.end(),
                                [&](const auto& other) { return other.name == option; });
      if (block == made.end()) {
        made.push_back({.name = option,
                        .title = fmt::format("{}, {}", option, over),
                        .columns = {},
                        .best = Best::kHighestOfRow});
        block = std::prev(made.end());
        for (const auto metric : experiment_.metrics) {
          block->rows.push_back({std::string(name_of(metric)), {}});
        }
      }
      block->columns.push_back(run.label);
      for (size_t i = 0; i < experiment_.metrics.size(); ++i) {
        block->rows[i].cells.push_back(cell(run.label, tasks_, experiment_.metrics[i]));
      }
    }
    return made;
  }

  // Those of the longest run, and further ones that `in_paper(run, step)` has for a run.
  template <typename InPaper>
  int64_t count_steps(const InPaper& in_paper) const {
    auto steps = grid_.num_steps();
    const auto& runs = experiment_.runs;
    while (std::any_of(runs.begin(), runs.end(),
                       [&](const auto& run) { return in_paper(run, steps + 1); })) {
      ++steps;
    }
    return steps;
  }

  const Experiment& experiment_;
  Words tasks_;
  ResultGrid grid_;
  const PaperNumbers& paper_;
};

}  // namespace

ComparisonTable make_table(const protocol::Experiment& experiment,
                           std::span<const RunResult> results, const PaperNumbers& paper) {
  return TableMaker(experiment, results, paper).make();
}

}  // namespace proca::report

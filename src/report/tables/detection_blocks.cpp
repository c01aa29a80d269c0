#include "report/tables/detection_blocks.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace proca::report {
namespace {

using protocol::DetectionQuality;

std::string show_ranges(const std::set<int64_t>& labels) {
  std::string text;
  for (auto first = labels.begin(); first != labels.end();) {
    auto last = first;
    for (auto next = std::next(last); next != labels.end() && *next == *last + 1; ++next) {
      last = next;
    }
    // A range of two would be no shorter.
    if (*last - *first == 1) last = first;
    if (!text.empty()) text += ' ';
    text += first == last ? fmt::format("{}", *first) : fmt::format("{}-{}", *first, *last);
    first = std::next(last);
  }
  return text;
}

bool contains(const std::vector<int64_t>& labels, int64_t label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// A share of the detection after a step (from 1), in percent.
template <typename Share>
ResultGrid::Figure detection_figure(int64_t step, const Share& share) {
  return [step, share](const RunResult& result) -> std::optional<double> {
    const auto& steps = result.metrics.steps;
    if (step > static_cast<int64_t>(steps.size())) return std::nullopt;
    const auto& detection = steps[static_cast<size_t>(step - 1)].detection;
    if (!detection) return std::nullopt;
    return 100 * share(*detection);
  };
}

Cell classes_cell(const RunResult* result, int64_t step) {
  if (result == nullptr || step > static_cast<int64_t>(result->detection.size())) return {};
  const auto& [detected, present, cumulative, threshold] =
      result->detection[static_cast<size_t>(step - 1)];
  return {.count = 1, .text = show_classes(detected, present)};
}

// One figure of a class's bar.
template <typename Value>
ResultGrid::Figure bar_figure(int64_t step, const Value& value) {
  return [step, value](const RunResult& result) -> std::optional<double> {
    if (step > static_cast<int64_t>(result.detection.size())) return std::nullopt;
    return value(result.detection[static_cast<size_t>(step - 1)]);
  };
}

TableBlock bar_block(const ResultGrid& grid, const std::string& run, const std::string& task,
                     int64_t step) {
  TableBlock block{.name = "",
                   .title = "",
                   .columns = {"cumulative", "detected", "present", "threshold"},
                   .best = Best::kNone,
                   .decimals = 3};
  const auto& shown = grid.first(run, task)->detection[static_cast<size_t>(step - 1)];
  const auto num_classes = static_cast<int64_t>(shown.cumulative.size());
  for (int64_t label = 0; label < num_classes; ++label) {
    const auto cell = [&](const auto& value) {
      return grid.cell(run, {&task, 1}, bar_figure(step, value));
    };
    block.rows.push_back({std::to_string(label),
                          {cell([label](const DetectedClasses& bars) {
                             return bars.cumulative.at(static_cast<size_t>(label));
                           }),
                           cell([label](const DetectedClasses& bars) {
                             return contains(bars.detected, label) ? 1.0 : 0.0;
                           }),
                           cell([label](const DetectedClasses& bars) {
                             return contains(bars.present, label) ? 1.0 : 0.0;
                           }),
                           cell([](const DetectedClasses& bars) { return bars.threshold; })}});
  }
  return block;
}

}  // namespace

std::string show_classes(std::span<const int64_t> detected, std::span<const int64_t> present) {
  const std::set<int64_t> expected(present.begin(), present.end());
  std::set<int64_t> right, wrong;
  for (const int64_t label : detected) (expected.contains(label) ? right : wrong).insert(label);
  auto text = show_ranges(right);
  if (!wrong.empty()) text += (text.empty() ? "(" : " (") + show_ranges(wrong) + ")";
  return text.empty() ? "-" : text;
}

std::vector<TableBlock> detected_classes_blocks(const protocol::Experiment& experiment,
                                                const ResultGrid& grid, int64_t num_steps) {
  std::vector<TableBlock> blocks;
  for (const auto& task : experiment.tasks) {
    TableBlock block{.name = task.label,
                     .title = task.label + ", detected classes",
                     .columns = {"classes", "SCD Acc", "TCD Acc", "Avg"},
                     .best = Best::kNone};
    for (int64_t step = 1; step <= num_steps; ++step) {
      for (const auto& run : experiment.runs) {
        const auto cell = [&](const auto& share) {
          return grid.cell(run.label, {&task.label, 1}, detection_figure(step, share));
        };
        block.rows.push_back(
            {fmt::format("{} step {}", run.label, step),
             {classes_cell(grid.first(run.label, task.label), step),
              cell([](const DetectionQuality& quality) { return quality.recall(); }),
              cell([](const DetectionQuality& quality) { return quality.precision(); }),
              cell([](const DetectionQuality& quality) {
                return (quality.recall() + quality.precision()) / 2;
              })}});
      }
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::vector<TableBlock> bar_blocks(const protocol::Experiment& experiment, const ResultGrid& grid) {
  std::vector<TableBlock> blocks;
  for (const auto& task : experiment.tasks) {
    for (const auto& run : experiment.runs) {
      const auto* result = grid.first(run.label, task.label);
      if (result == nullptr) continue;
      const auto who = experiment.runs.size() == 1 ? "" : " " + run.label;
      for (size_t step = 1; step <= result->detection.size(); ++step) {
        auto block = bar_block(grid, run.label, task.label, static_cast<int64_t>(step));
        block.name = fmt::format("{}{} step {}", task.label, who, step);
        block.title = block.name + ", cumulative probability of every class";
        blocks.push_back(std::move(block));
      }
    }
  }
  return blocks;
}

}  // namespace proca::report

#include "report/tables/detection_blocks.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace proca::report {
namespace {

using protocol::DetectedStep;
using protocol::DetectionQuality;

std::string show_ranges(const std::set<int64_t>& labels) {
  std::string text;
  for (auto first = labels.begin(); first != labels.end();) {
    auto last = first;
    for (auto next = std::next(last); next != labels.end() && *next == *last + 1; ++next) {
      last = next;
    }
    // A range of two is no shorter than both.
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

// What `value` gives for a step (from 1) of those in `steps_of` the result, if it was done.
template <typename Steps, typename Value>
ResultGrid::Figure at_step(int64_t step, const Steps& steps_of, const Value& value) {
  return [=](const RunResult& result) -> std::optional<double> {
    const auto& steps = std::invoke(steps_of, result);
    if (step > static_cast<int64_t>(steps.size())) return std::nullopt;
    return value(steps[static_cast<size_t>(step - 1)]);
  };
}

// A share of the detection in percent.
template <typename Share>
ResultGrid::Figure detection_figure(int64_t step, const Share& share) {
  const auto steps_of = [](const RunResult& result) -> const auto& { return result.metrics.steps; };
  return at_step(step, steps_of,
                 [share](const protocol::StepMetrics& metrics) -> std::optional<double> {
                   if (!metrics.detection) return std::nullopt;
                   return 100 * std::invoke(share, *metrics.detection);
                 });
}

Cell classes_cell(const RunResult* result, int64_t step) {
  if (result == nullptr || step > static_cast<int64_t>(result->detection.size())) return {};
  const auto& shown = result->detection[static_cast<size_t>(step - 1)];
  return {.count = 1, .text = show_classes(shown.detected, shown.present)};
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
      return grid.cell(run, {&task, 1}, at_step(step, &RunResult::detection, value));
    };
    block.rows.push_back(
        {std::to_string(label),
         {cell([=](const DetectedStep& s) { return s.cumulative.at(static_cast<size_t>(label)); }),
          cell([=](const DetectedStep& s) { return contains(s.detected, label) ? 1.0 : 0.0; }),
          cell([=](const DetectedStep& s) { return contains(s.present, label) ? 1.0 : 0.0; }),
          cell([](const DetectedStep& s) { return s.threshold; })}});
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
        block.rows.push_back({fmt::format("{} step {}", run.label, step),
                              {classes_cell(grid.first(run.label, task.label), step),
                               cell(&DetectionQuality::recall), cell(&DetectionQuality::precision),
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
      const auto label = experiment.runs.size() == 1 ? "" : " " + run.label;
      for (size_t step = 1; step <= result->detection.size(); ++step) {
        auto block = bar_block(grid, run.label, task.label, static_cast<int64_t>(step));
        block.name = fmt::format("{}{} step {}", task.label, label, step);
        block.title = block.name + ", cumulative probability of every class";
        blocks.push_back(std::move(block));
      }
    }
  }
  return blocks;
}

}  // namespace proca::report

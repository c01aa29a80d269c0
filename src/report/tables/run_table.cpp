#include "report/tables/run_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "report/tables/text_table.h"

namespace proca::report {
namespace {

using protocol::RunMetrics;
using protocol::StepMetrics;
using Runs = std::vector<RunMetrics>;
using Row = std::vector<std::string>;

const std::string kNoValue = "-";

// Rows of different lengths have no mean.
size_t common_num_steps(const Runs& runs) {
  if (runs.empty()) throw std::invalid_argument("run_table: needs a run");
  const auto num_steps = runs.front().steps.size();
  for (const auto& run : runs) {
    if (run.steps.size() != num_steps) {
      throw InputError(fmt::format("the runs have done different numbers of steps: {} and {}",
                                   num_steps, run.steps.size()));
    }
  }
  return num_steps;
}

// What `value_of` gives for each run that has it, in percent.
template <typename ValueOf>
std::vector<double> percents(const Runs& runs, const ValueOf& value_of) {
  std::vector<double> values;
  for (const auto& run : runs) {
    const std::optional<double> value = std::invoke(value_of, run);
    if (value && !std::isnan(*value)) values.push_back(*value * 100);
  }
  return values;
}

template <typename ValueOf>
std::string cell(const Runs& runs, int decimals, const ValueOf& value_of) {
  const auto values = percents(runs, value_of);
  if (values.empty()) return kNoValue;
  const auto [mean, std] = protocol::mean_std(values);
  return values.size() == 1 ? show_number(mean, decimals)
                            : show_number(mean, decimals) + " ± " + show_number(std, decimals);
}

Row step_row(const Runs& runs, size_t index) {
  // `part` of the step's metrics.
  const auto of_step = [&](const auto& part) {
    return cell(runs, 1,
                [&](const RunMetrics& run) { return std::invoke(part, run.steps[index]); });
  };
  using Value = std::optional<double>;
  return {
      std::to_string(index + 1),
      of_step(&StepMetrics::accuracy),
      of_step(&StepMetrics::s1_accuracy),
      of_step(&StepMetrics::accuracy_drop),
      of_step([](const StepMetrics& step) {
        return step.detection ? Value(step.detection->recall()) : std::nullopt;
      }),
      of_step([](const StepMetrics& step) {
        return step.detection ? Value(step.detection->precision()) : std::nullopt;
      }),
      of_step([](const StepMetrics& step) {
        return step.pseudo_labels ? Value(step.pseudo_labels->accuracy()) : std::nullopt;
      }),
  };
}

Row mean_row(const Runs& runs) {
  return {
      "mean",
      cell(runs, 1, &RunMetrics::mean_accuracy),
      cell(runs, 1, &RunMetrics::mean_s1_accuracy),
      "",  // The paper's figures show the drop step by step only.
      cell(runs, 1, &RunMetrics::mean_recall),
      cell(runs, 1, &RunMetrics::mean_precision),
      cell(runs, 1, &RunMetrics::pseudo_label_accuracy),
  };
}

}  // namespace

std::string run_table(const std::string& title, const Runs& runs) {
  const auto num_steps = common_num_steps(runs);
  std::vector<Row> rows = {{"step", "accuracy", "S-1", "drop", "recall", "precision", "pseudo"}};
  for (size_t i = 0; i < num_steps; ++i) rows.push_back(step_row(runs, i));
  rows.push_back(mean_row(runs));
  const std::vector<Row> sums = {
      {"Final accuracy", cell(runs, 2, &RunMetrics::final_accuracy)},
      {"Final S-1 accuracy", cell(runs, 2, &RunMetrics::final_s1_accuracy)},
      {"Forgetting", cell(runs, 1, &RunMetrics::forgetting)},
      {"Backward transfer", cell(runs, 1, &RunMetrics::backward_transfer)},
  };
  const auto seeds = runs.size() == 1 ? "" : fmt::format(", mean ± std of {} runs", runs.size());
  return fmt::format("{} (%{})\n{}\n{}", title, seeds, text_table(rows), text_table(sums));
}

std::string group_matrix(const Runs& runs) {
  const auto num_steps = common_num_steps(runs);
  const auto num_groups = runs.front().source_group_accuracy.size();
  const auto mean_cell = [&](const auto& groups_of, size_t group) {
    const auto values =
        percents(runs, [&](const RunMetrics& run) { return groups_of(run).at(group); });
    return values.empty() ? kNoValue : show_number(protocol::mean_std(values).mean, 1);
  };
  // "source" and columns of at most "100.0" with two blanks before them.
  constexpr size_t kGroupsPerTable = (kTableWidth - 6) / 7;
  std::string text = "Accuracy (%) after each step (rows) on the classes of each step (columns)\n";
  for (size_t first = 0; first < num_groups; first += kGroupsPerTable) {
    const auto last = std::min(num_groups, first + kGroupsPerTable);
    std::vector<Row> rows(num_steps + 2);
    rows[0] = {""};
    rows[1] = {"source"};
    for (size_t step = 0; step < num_steps; ++step) rows[step + 2] = {std::to_string(step + 1)};
    for (size_t group = first; group < last; ++group) {
      rows[0].push_back(std::to_string(group + 1));
      rows[1].push_back(mean_cell(
          [](const RunMetrics& run) -> const auto& { return run.source_group_accuracy; }, group));
      for (size_t step = 0; step < num_steps; ++step) {
        rows[step + 2].push_back(mean_cell(
            [step](const RunMetrics& run) -> const auto& { return run.steps[step].group_accuracy; },
            group));
      }
    }
    if (first > 0) text += "\n";
    text += text_table(rows);
  }
  return text;
}

}  // namespace proca::report

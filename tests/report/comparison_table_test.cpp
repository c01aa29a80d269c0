#include "report/tables/comparison_table.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "report/results.h"

namespace proca::report {
namespace {

using protocol::TableMetric;
using protocol::TableView;
using test::experiment_of;
using test::paper_of;
using test::result_of;
using Words = std::vector<std::string>;

const Cell& cell_of(const ComparisonTable& table, size_t block, size_t row, size_t column) {
  return table.blocks.at(block).rows.at(row).cells.at(column);
}

void expect_cell(const Cell& cell, double mean, double std, int64_t count) {
  ASSERT_TRUE(cell.mean);
  EXPECT_NEAR(*cell.mean, mean, 1e-9);
  EXPECT_NEAR(cell.std, std, 1e-9);
  EXPECT_EQ(cell.count, count);
}

Words labels_of(const TableBlock& block) {
  Words labels;
  for (const auto& row : block.rows) labels.push_back(row.label);
  return labels;
}

// Two tasks, two seeds, two steps.
const std::vector<RunResult> kResults = {
    result_of("ProCA", "A->W", 0, {0.90, 0.80}, {0.9, 0.7}),
    result_of("ProCA", "W->A", 0, {0.70, 0.60}, {0.8, 0.5}),
    result_of("ProCA", "A->W", 1, {0.94, 0.84}, {0.9, 0.9}),
    result_of("ProCA", "W->A", 1, {0.66, 0.62}, {0.6, 0.5}),
    result_of("PADA", "A->W", 0, {0.5, 0.4}, {0.5, 0.4}),
    result_of("PADA", "A->W", 1, {0.5, 0.2}, {0.5, 0.4}),
    result_of("PADA", "W->A", 1, {0.5, 0.1}, {0.5, 0.4}),
    result_of("ProCA", "A->W", 2, {0.0, 0.0}, {0.0, 0.0}),  // no seed of the experiment
    result_of("Other", "A->W", 0, {1.0, 1.0}, {1.0, 1.0}),  // no row
    result_of("ProCA", "A->D", 0, {0.0, 0.0}, {0.0, 0.0}),  // no task
};

TEST(ComparisonTableTest, TasksAreColumnsAndTheMeanIsThatOfEachSeed) {
  const auto table =
      make_table(experiment_of(TableView::kTasks, {TableMetric::kFinal, TableMetric::kFinalS1},
                               {"PADA", "ProCA"}),
                 kResults, {});
  EXPECT_EQ(table.title, "My table");
  ASSERT_EQ(table.blocks.size(), 2u);
  EXPECT_EQ(table.blocks[0].name, "final");
  EXPECT_EQ(table.blocks[1].name, "final-s1");
  EXPECT_EQ(table.blocks[0].columns, (Words{"A->W", "W->A", "Avg"}));
  EXPECT_EQ(labels_of(table.blocks[0]), (Words{"PADA", "ProCA"}));
  // A->W 80 and 84, W->A 60 and 62; seeds' means 70 and 73. The deviation of two values
  // is their difference by the root of two.
  expect_cell(cell_of(table, 0, 1, 0), 82, 4 / std::sqrt(2.0), 2);
  expect_cell(cell_of(table, 0, 1, 1), 61, 2 / std::sqrt(2.0), 2);
  expect_cell(cell_of(table, 0, 1, 2), 71.5, 3 / std::sqrt(2.0), 2);
  // S-1: 70 and 90, 50 and 50; means 60 and 70
  expect_cell(cell_of(table, 1, 1, 2), 65, 10 / std::sqrt(2.0), 2);
}

TEST(ComparisonTableTest, SeedWithAMissingTaskHasNoMean) {
  const auto table = make_table(
      experiment_of(TableView::kTasks, {TableMetric::kFinal}, {"PADA", "None"}), kResults, {});
  // A->W 40 and 20; W->A of seed 1 only, 10; the mean of seed 1 is 15.
  expect_cell(cell_of(table, 0, 0, 0), 30, 20 / std::sqrt(2.0), 2);
  expect_cell(cell_of(table, 0, 0, 1), 10, 0, 1);
  expect_cell(cell_of(table, 0, 0, 2), 15, 0, 1);
  for (size_t column = 0; column < 3; ++column) {
    EXPECT_FALSE(cell_of(table, 0, 1, column).mean);
    EXPECT_EQ(cell_of(table, 0, 1, column).count, 0);
  }
}

TEST(ComparisonTableTest, FigureThatIsNoNumberIsMissing) {
  auto result = result_of("ProCA", "A->W", 0, {0.5}, {0.5});
  result.metrics.final_s1_accuracy = std::numeric_limits<double>::quiet_NaN();
  const auto table =
      make_table(experiment_of(TableView::kTasks, {TableMetric::kFinalS1}, {"ProCA"}),
                 std::vector{result}, {});
  EXPECT_FALSE(cell_of(table, 0, 0, 0).mean);
}

TEST(ComparisonTableTest, RunWithoutPseudoLabelsShowsItsAccuracy) {
  auto labelled = result_of("ProCA", "A->W", 0, {0.5}, {0.5});
  labelled.metrics.pseudo_label_accuracy = 0.75;
  const std::vector<RunResult> results = {labelled,
                                          result_of("Source only", "A->W", 0, {0.5}, {0.4})};
  const auto table = make_table(
      experiment_of(TableView::kTasks, {TableMetric::kPseudoLabels}, {"Source only", "ProCA"}),
      results, {});
  expect_cell(cell_of(table, 0, 0, 0), 50, 0, 1);
  expect_cell(cell_of(table, 0, 1, 0), 75, 0, 1);
}

TEST(ComparisonTableTest, PaperIsFoundByBlockRowAndColumn) {
  const auto paper = paper_of("final,ProCA,W->A,63.9,\nfinal,ProCA,Avg,73.3,why\n");
  const auto table = make_table(experiment_of(TableView::kTasks, {TableMetric::kFinal}, {"ProCA"}),
                                kResults, paper);
  EXPECT_FALSE(cell_of(table, 0, 0, 0).paper);
  EXPECT_EQ(cell_of(table, 0, 0, 1).paper->value, 63.9);
  EXPECT_EQ(cell_of(table, 0, 0, 2).paper->note, "why");
}

TEST(ComparisonTableTest, StepsAreMeansOverTheTasks) {
  const auto table = make_table(
      experiment_of(TableView::kSteps, {TableMetric::kStepAccuracy}, {"ProCA"}), kResults, {});
  EXPECT_EQ(table.blocks[0].name, "step-accuracy");
  EXPECT_EQ(table.blocks[0].columns, (Words{"1", "2", "Avg"}));
  // step 1: (90 + 70) / 2 = 80 and (94 + 66) / 2 = 80; step 2: 70 and 73
  expect_cell(cell_of(table, 0, 0, 0), 80, 0, 2);
  expect_cell(cell_of(table, 0, 0, 1), 71.5, 3 / std::sqrt(2.0), 2);
  // of the two steps: 75 and 76.5
  expect_cell(cell_of(table, 0, 0, 2), 75.75, 1.5 / std::sqrt(2.0), 2);
}

TEST(ComparisonTableTest, TaskStepsHaveABlockPerTaskAndMetric) {
  const auto table =
      make_table(experiment_of(TableView::kTaskSteps,
                               {TableMetric::kStepAccuracy, TableMetric::kS1Accuracy}, {"ProCA"}),
                 kResults, {});
  Words names;
  for (const auto& block : table.blocks) names.push_back(block.name);
  EXPECT_EQ(names, (Words{"A->W step-accuracy", "A->W s1-accuracy", "W->A step-accuracy",
                          "W->A s1-accuracy"}));
  EXPECT_EQ(table.blocks[1].columns, (Words{"1", "2", "Avg"}));
  // A->W, S-1: 90, 70 and 90, 90; the seeds' means 80 and 90
  expect_cell(cell_of(table, 1, 0, 1), 80, 20 / std::sqrt(2.0), 2);
  expect_cell(cell_of(table, 1, 0, 2), 85, 10 / std::sqrt(2.0), 2);
}

TEST(ComparisonTableTest, PaperHasItsStepsBeforeAnythingWasRun) {
  const auto paper =
      paper_of("step-accuracy,PADA,1,60,\nstep-accuracy,ProCA,1,80,\nstep-accuracy,ProCA,2,70,\n");
  const auto table = make_table(
      experiment_of(TableView::kSteps, {TableMetric::kStepAccuracy}, {"PADA", "ProCA"}), {}, paper);
  EXPECT_EQ(table.blocks[0].columns, (Words{"1", "2", "Avg"}));
  EXPECT_EQ(cell_of(table, 0, 1, 1).paper->value, 70);
  EXPECT_FALSE(cell_of(table, 0, 1, 1).mean);
}

TEST(ComparisonTableTest, RunThatStoppedEarlyHasNoMeanOfItsSteps) {
  const std::vector<RunResult> results = {
      result_of("ProCA", "A->W", 0, {0.9, 0.8, 0.7}, {0.9, 0.8, 0.7}),
      result_of("ProCA", "W->A", 0, {0.9}, {0.9}),
  };
  const auto table = make_table(
      experiment_of(TableView::kTaskSteps, {TableMetric::kStepAccuracy}, {"ProCA"}), results, {});
  expect_cell(cell_of(table, 1, 0, 0), 90, 0, 1);
  EXPECT_FALSE(cell_of(table, 1, 0, 1).mean);
  EXPECT_FALSE(cell_of(table, 1, 0, 3).mean);
  expect_cell(cell_of(table, 0, 0, 3), 80, 0, 1);
}

TEST(ComparisonTableTest, DropIsTheMeanOfTheTasks) {
  const auto table =
      make_table(experiment_of(TableView::kDrop, {TableMetric::kDrop}, {"ProCA"}), kResults, {});
  EXPECT_EQ(table.blocks[0].name, "drop");
  EXPECT_EQ(table.blocks[0].columns, (Words{"1", "2"}));
  EXPECT_EQ(table.blocks[0].best, Best::kLowestOfColumn);
  expect_cell(cell_of(table, 0, 0, 0), 0, 0, 2);
  // seed 0: (20 + 30) / 2 = 25, seed 1: (0 + 10) / 2 = 5
  expect_cell(cell_of(table, 0, 0, 1), 15, 20 / std::sqrt(2.0), 2);
}

TEST(ComparisonTableTest, TheSourceModelDoesNotCompeteInNotForgetting) {
  auto experiment = experiment_of(TableView::kDrop, {TableMetric::kDrop}, {"ProCA", "Other"});
  experiment.runs[1].method = "source-only";
  const auto drop = make_table(experiment, kResults, {});
  EXPECT_TRUE(drop.blocks[0].rows[0].competes);
  EXPECT_FALSE(drop.blocks[0].rows[1].competes);
  experiment.view = TableView::kSteps;
  experiment.metrics = {TableMetric::kStepAccuracy};
  EXPECT_TRUE(make_table(experiment, kResults, {}).blocks[0].rows[1].competes);
}

TEST(ComparisonTableTest, SweepHasABlockPerOptionAndARowPerMetric) {
  const std::vector<RunResult> results = {
      result_of("lambda = 0", "A->W", 0, {0.8}, {0.6}),
      result_of("lambda = 0", "W->A", 0, {0.6}, {0.2}),
      result_of("eta = 1", "A->W", 0, {0.5}, {0.5}),
  };
  const auto table =
      make_table(experiment_of(TableView::kSweep, {TableMetric::kFinal, TableMetric::kFinalS1},
                               {"lambda = 0", "lambda = 0.5", "eta = 1", "plain"}),
                 results, paper_of("lambda,final,lambda = 0.5,84.5,\n"));
  ASSERT_EQ(table.blocks.size(), 3u);
  EXPECT_EQ(table.blocks[0].name, "lambda");
  EXPECT_EQ(table.blocks[0].columns, (Words{"lambda = 0", "lambda = 0.5"}));
  EXPECT_EQ(labels_of(table.blocks[0]), (Words{"final", "final-s1"}));
  EXPECT_EQ(table.blocks[0].best, Best::kHighestOfRow);
  EXPECT_EQ(table.blocks[1].name, "eta");
  EXPECT_EQ(table.blocks[2].name, "runs");
  expect_cell(cell_of(table, 0, 0, 0), 70, 0, 1);
  expect_cell(cell_of(table, 0, 1, 0), 40, 0, 1);
  EXPECT_FALSE(cell_of(table, 0, 0, 1).mean);
  EXPECT_EQ(cell_of(table, 0, 0, 1).paper->value, 84.5);
  EXPECT_FALSE(cell_of(table, 1, 0, 0).mean);  // W->A is missing
}

RunResult detecting(int64_t seed, std::vector<int64_t> detected, protocol::DetectionQuality quality,
                    std::vector<double> cumulative) {
  auto result = result_of("SCD", "A->W", seed, {0.5}, {0.5});
  result.metrics.steps[0].detection = quality;
  result.detection = {{.detected = std::move(detected),
                       .present = {0, 1, 2, 3},
                       .cumulative = std::move(cumulative),
                       .threshold = 0.25}};
  return result;
}

TEST(ComparisonTableTest, DetectedClassesAreListedWithTheirShares) {
  const std::vector<RunResult> results = {
      detecting(0, {7, 0, 2, 1, 5}, {5, 4, 3}, {}),
      detecting(1, {0, 1}, {2, 4, 2}, {}),
  };
  const auto paper = paper_of(
      "A->W,SCD step 1,classes,[0-2 (9)],\nA->W,SCD step 1,TCD Acc,75,\n"
      "A->W,SCD step 2,classes,[4],\n");
  const auto table =
      make_table(experiment_of(TableView::kDetectedClasses, {}, {"HBW", "SCD"}), results, paper);
  ASSERT_EQ(table.blocks.size(), 2u);
  EXPECT_EQ(table.blocks[0].name, "A->W");
  EXPECT_EQ(table.blocks[0].columns, (Words{"classes", "SCD Acc", "TCD Acc", "Avg"}));
  EXPECT_EQ(labels_of(table.blocks[0]),
            (Words{"HBW step 1", "SCD step 1", "HBW step 2", "SCD step 2"}));
  EXPECT_EQ(cell_of(table, 0, 1, 0).text, "0-2 (5 7)");  // of the first seed
  EXPECT_EQ(cell_of(table, 0, 1, 0).paper->text, "0-2 (9)");
  // recall 3/4 and 2/4, precision 3/5 and 2/2, means 67.5 and 75
  expect_cell(cell_of(table, 0, 1, 1), 62.5, 25 / std::sqrt(2.0), 2);
  expect_cell(cell_of(table, 0, 1, 2), 80, 40 / std::sqrt(2.0), 2);
  expect_cell(cell_of(table, 0, 1, 3), 71.25, 7.5 / std::sqrt(2.0), 2);
  EXPECT_EQ(cell_of(table, 0, 0, 0).text, "");
  EXPECT_FALSE(cell_of(table, 0, 3, 1).mean);
}

TEST(ComparisonTableTest, ListsOfClassesShowRangesAndWrongOnes) {
  const auto shown = [](std::vector<int64_t> detected) {
    const auto table =
        make_table(experiment_of(TableView::kDetectedClasses, {}, {"SCD"}),
                   std::vector{detecting(0, std::move(detected), {1, 1, 1}, {})}, {});
    return cell_of(table, 0, 0, 0).text;
  };
  EXPECT_EQ(shown({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(shown({0, 1, 3}), "0 1 3");
  EXPECT_EQ(shown({5, 4}), "(4 5)");
  EXPECT_EQ(shown({3, 3, 12, 10, 11}), "3 (10-12)");
  EXPECT_EQ(shown({}), "-");
}

TEST(ComparisonTableTest, BarsHaveARowPerClass) {
  const std::vector<RunResult> results = {
      detecting(0, {0, 1}, {2, 4, 2}, {1.0, 0.5, 0.25, 0.0, 0.1}),
      detecting(1, {0, 4}, {2, 4, 1}, {1.0, 0.25, 0.25, 0.0, 0.3}),
  };
  const auto table = make_table(experiment_of(TableView::kBars, {}, {"SCD"}), results, {});
  ASSERT_EQ(table.blocks.size(), 1u);
  EXPECT_EQ(table.blocks[0].name, "A->W step 1");
  EXPECT_EQ(table.blocks[0].columns, (Words{"cumulative", "detected", "present", "threshold"}));
  EXPECT_EQ(labels_of(table.blocks[0]), (Words{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(table.blocks[0].best, Best::kNone);
  expect_cell(cell_of(table, 0, 1, 0), 0.375, 0.25 / std::sqrt(2.0), 2);
  expect_cell(cell_of(table, 0, 1, 1), 0.5, 1 / std::sqrt(2.0), 2);  // by one of two seeds
  expect_cell(cell_of(table, 0, 0, 1), 1, 0, 2);
  expect_cell(cell_of(table, 0, 3, 2), 1, 0, 2);
  expect_cell(cell_of(table, 0, 4, 2), 0, 0, 2);
  expect_cell(cell_of(table, 0, 4, 3), 0.25, 0, 2);

  const auto both = make_table(experiment_of(TableView::kBars, {}, {"SCD", "HBW"}), results, {});
  ASSERT_EQ(both.blocks.size(), 1u);
  EXPECT_EQ(both.blocks[0].name, "A->W SCD step 1");
}

}  // namespace
}  // namespace proca::report

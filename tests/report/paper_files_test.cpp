#include <cmath>

#include <gtest/gtest.h>

#include "report/tables/paper_numbers.h"

namespace proca::report {
namespace {

using Words = std::vector<std::string>;

const Words kMethods = {"Source only", "DANN", "PADA", "ETN", "BA3US", "CIDA", "ProCA"};
const Words kOffice31 = {"A->D", "A->W", "D->A", "D->W", "W->A", "W->D"};
const Words kOfficeHome = {"Ar->Cl", "Ar->Pr", "Ar->Rw", "Cl->Ar", "Cl->Pr", "Cl->Rw",
                           "Pr->Ar", "Pr->Cl", "Pr->Rw", "Rw->Ar", "Rw->Cl", "Rw->Pr"};
const Words kCaltech = {"C->I", "I->C"};

Words steps(int64_t count) {
  Words words;
  for (int64_t step = 1; step <= count; ++step) words.push_back(std::to_string(step));
  return words;
}

double value(const std::string& file, const std::string& block, const std::string& row,
             const std::string& column) {
  const auto number = paper_numbers(file).find(block, row, column);
  return number ? number->value : std::nan("");
}

// Every row has every column, and its average is that of the columns unless a note
// tells what is wrong with it. Numbers have one decimal: averages are off by up to 0.1.
void expect_averages(const std::string& file, const std::string& block, const Words& rows,
                     const Words& columns) {
  for (const auto& row : rows) {
    double sum = 0;
    for (const auto& column : columns) {
      const auto number = paper_numbers(file).find(block, row, column);
      ASSERT_TRUE(number) << file << " " << block << " " << row << " " << column;
      EXPECT_GE(number->value, 0);
      EXPECT_LE(number->value, 100);
      sum += number->value;
    }
    const auto average = paper_numbers(file).find(block, row, "Avg");
    ASSERT_TRUE(average) << file << " " << block << " " << row;
    const auto difference = average->value - sum / static_cast<double>(columns.size());
    if (std::abs(difference) > 0.1 + 1e-9) {
      EXPECT_FALSE(average->note.empty())
          << file << " " << block << " " << row << " is off by " << difference;
    }
  }
}

TEST(PaperFilesTest, EveryExperimentWithNumbersIsThere) {
  for (const auto* name :
       {"final-office-home", "final-office31", "final-imagenet-caltech", "steps-office31",
        "steps-office-home", "prototypes-office31", "ablation-office31", "detection-office31",
        "sweeps-office31", "sweeps-office-home", "sweeps-imagenet-caltech",
        "prototype-count-imagenet-caltech", "step-size-imagenet-caltech", "pseudo-labels-office31",
        "per-task-office31", "per-task-office-home", "per-task-imagenet-caltech",
        "drop-office-home", "drop-imagenet-caltech"}) {
    EXPECT_FALSE(paper_numbers(name).empty()) << name;
  }
  EXPECT_TRUE(paper_numbers("my-own").empty());
}

TEST(PaperFilesTest, AveragesAgreeUnlessANoteSaysWhyNot) {
  expect_averages("final-office31", "final", kMethods, kOffice31);
  expect_averages("final-office-home", "final", kMethods, kOfficeHome);
  expect_averages("final-imagenet-caltech", "final", kMethods, kCaltech);
  expect_averages("steps-office31", "step-accuracy", kMethods, steps(3));
  expect_averages("steps-office-home", "step-accuracy", kMethods, steps(6));
  for (const auto* metric : {"final", "final-s1"}) {
    expect_averages("prototypes-office31", metric,
                    {"PADA", "PADA + prototypes", "ETN", "ETN + prototypes", "BA3US",
                     "BA3US + prototypes", "ProCA"},
                    kOffice31);
    expect_averages("ablation-office31", metric,
                    {"Source only", "L_ce", "L_ce + L_dis", "L_ce + L_con", "ProCA"}, kOffice31);
  }
  expect_averages(
      "pseudo-labels-office31", "pseudo-labels",
      {"Source only", "Pseudo-labels", "Pseudo-labels with HBW", "Pseudo-labels with SCD"},
      kOffice31);
  for (const auto* metric : {" step-accuracy", " s1-accuracy"}) {
    for (const auto& task : kOffice31) {
      expect_averages("per-task-office31", task + metric, kMethods, steps(3));
    }
    for (const auto& task : kOfficeHome) {
      expect_averages("per-task-office-home", task + metric, kMethods, steps(6));
    }
    for (const auto& task : kCaltech) {
      expect_averages("per-task-imagenet-caltech", task + metric, kMethods, steps(8));
    }
  }
}

TEST(PaperFilesTest, DetectionHasEveryTaskAndStep) {
  for (const auto& task : kOffice31) {
    for (const auto& step : steps(3)) {
      for (const auto* rule : {"HBW step ", "SCD step "}) {
        const auto& numbers = paper_numbers("detection-office31");
        EXPECT_FALSE(numbers.find(task, rule + step, "classes")->text.empty());
        const auto scd = value("detection-office31", task, rule + step, "SCD Acc");
        const auto tcd = value("detection-office31", task, rule + step, "TCD Acc");
        const auto average = value("detection-office31", task, rule + step, "Avg");
        EXPECT_NEAR(average, (scd + tcd) / 2, 0.1) << task << " " << rule << step;
      }
    }
  }
}

TEST(PaperFilesTest, DropIsThatOfTheSingleTasks) {
  for (const auto& method : kMethods) {
    for (const auto& step : steps(6)) {
      double sum = 0;
      for (const auto& task : kOfficeHome) {
        sum += value("per-task-office-home", task + " s1-accuracy", method, "1") -
               value("per-task-office-home", task + " s1-accuracy", method, step);
      }
      EXPECT_NEAR(value("drop-office-home", "drop", method, step), sum / 12, 0.051) << method;
    }
    for (const auto& step : steps(8)) {
      double sum = 0;
      for (const auto& task : kCaltech) {
        sum += value("per-task-imagenet-caltech", task + " s1-accuracy", method, "1") -
               value("per-task-imagenet-caltech", task + " s1-accuracy", method, step);
      }
      EXPECT_NEAR(value("drop-imagenet-caltech", "drop", method, step), sum / 2, 0.051) << method;
    }
  }
}

TEST(PaperFilesTest, NumbersAreThoseOfThePaper) {
  EXPECT_EQ(value("final-office31", "final", "PADA", "A->D"), 56.9);
  EXPECT_EQ(value("final-office31", "final", "ProCA", "Avg"), 82.1);
  EXPECT_EQ(value("final-office-home", "final", "ETN", "Ar->Pr"), 2.8);
  EXPECT_EQ(value("final-office-home", "final", "ProCA", "Rw->Pr"), 86.4);
  EXPECT_EQ(value("final-imagenet-caltech", "final", "CIDA", "I->C"), 49.2);
  EXPECT_EQ(value("steps-office31", "step-accuracy", "BA3US", "2"), 85.9);
  EXPECT_EQ(value("prototypes-office31", "final-s1", "PADA + prototypes", "D->A"), 62.6);
  EXPECT_EQ(value("ablation-office31", "final", "L_ce + L_con", "W->D"), 99.0);
  EXPECT_EQ(value("detection-office31", "W->A", "SCD step 1", "TCD Acc"), 72.7);
  EXPECT_EQ(paper_numbers("detection-office31").find("A->D", "SCD step 3", "classes")->text,
            "20-23 25-29 (12 13)");
  EXPECT_EQ(value("sweeps-imagenet-caltech", "alpha", "final", "alpha = 0.25"), 87.8);
  EXPECT_EQ(value("prototype-count-imagenet-caltech", "prototypes", "final-s1", "prototypes = 40"),
            74.0);
  EXPECT_EQ(
      value("step-size-imagenet-caltech", "classes-per-step", "final", "classes-per-step = 15"),
      80.6);
  EXPECT_EQ(value("pseudo-labels-office31", "pseudo-labels", "Pseudo-labels", "D->W"), 84.8);
  EXPECT_EQ(value("per-task-office-home", "Cl->Rw s1-accuracy", "ProCA", "4"), 67.4);
  EXPECT_EQ(value("per-task-imagenet-caltech", "I->C step-accuracy", "ETN", "8"), 3.1);
  // (74.4 - 72.0 + 97.7 - 95.0) / 2, of C->I and I->C, to one decimal
  EXPECT_NEAR(value("drop-imagenet-caltech", "drop", "ProCA", "8"), 2.55, 0.051);
}

TEST(PaperFilesTest, MisprintsAreCorrectedAndNoted) {
  const auto number = [](const std::string& file, const std::string& block, const std::string& row,
                         const std::string& column) {
    return paper_numbers(file).find(block, row, column).value();
  };
  const auto average = number("steps-office-home", "step-accuracy", "ProCA", "Avg");
  EXPECT_EQ(average.value, 69.1);
  EXPECT_EQ(average.note, "printed 86.0, but the steps average 69.1");
  // (A->W 82.6 + W->A 63.9) / 2 and (Pr->Rw 84.7 + Rw->Pr 86.4) / 2 at the default
  EXPECT_EQ(number("sweeps-office31", "lambda", "final", "lambda = 0.1").value, 73.3);
  EXPECT_EQ(number("sweeps-office-home", "lambda", "final", "lambda = 0.1").value, 85.6);
  EXPECT_NE(number("sweeps-office-home", "eta", "final", "eta = 2").note, "");
  EXPECT_EQ(number("sweeps-office-home", "eta", "final-s1", "eta = 2").note, "");
  const auto detection = number("detection-office31", "D->A", "HBW step 2", "TCD Acc");
  EXPECT_EQ(detection.value, 72.7);
  EXPECT_EQ(detection.note, "printed 66.7, but 8 of the 11 classes are right");
  for (const auto* method : {"DANN", "PADA", "ETN"}) {
    const auto step = number("per-task-office31", "D->W step-accuracy", method, "3");
    EXPECT_EQ(step.value, value("final-office31", "final", method, "D->W"));
    EXPECT_NE(step.note.find("the row repeats A->W"), std::string::npos);
    EXPECT_NE(number("per-task-office31", "D->W s1-accuracy", method, "1").note, "");
  }
  EXPECT_EQ(number("per-task-office31", "D->W step-accuracy", "CIDA", "3").note, "");
}

}  // namespace
}  // namespace proca::report

#include "protocol/metrics_json.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "protocol/three_steps.h"
#include "support/message_of.h"

namespace proca::protocol {
namespace {

using nlohmann::json;
using test::message_of;
using test::ThreeSteps;

const std::vector<std::string> kNames = {"bed", "cup", "fan", "p\xffn"};

void expect_equal(const StepRecord& actual, const StepRecord& expected) {
  ASSERT_EQ(actual.classes.size(), expected.classes.size());
  for (size_t i = 0; i < actual.classes.size(); ++i) {
    EXPECT_EQ(actual.classes[i].label, expected.classes[i].label);
    EXPECT_EQ(actual.classes[i].num_images, expected.classes[i].num_images);
    EXPECT_EQ(actual.classes[i].num_correct, expected.classes[i].num_correct);
  }
  EXPECT_EQ(actual.confusion, expected.confusion);
  ASSERT_EQ(actual.detection.has_value(), expected.detection.has_value());
  if (actual.detection) {
    EXPECT_EQ(actual.detection->num_detected, expected.detection->num_detected);
    EXPECT_EQ(actual.detection->num_present, expected.detection->num_present);
    EXPECT_EQ(actual.detection->num_right, expected.detection->num_right);
  }
  ASSERT_EQ(actual.pseudo_labels.has_value(), expected.pseudo_labels.has_value());
  if (actual.pseudo_labels) {
    EXPECT_EQ(actual.pseudo_labels->num_images, expected.pseudo_labels->num_images);
    EXPECT_EQ(actual.pseudo_labels->num_correct, expected.pseudo_labels->num_correct);
  }
}

TEST(MetricsJsonTest, StepRecordIsReadBackAsWritten) {
  for (auto record : ThreeSteps().steps) {
    expect_equal(step_record_from_json(to_json(record, kNames), "m.json"), record);
    record.detection.reset();
    expect_equal(step_record_from_json(to_json(record, kNames), "m.json"), record);
    record.pseudo_labels.reset();
    expect_equal(step_record_from_json(to_json(record, kNames), "m.json"), record);
  }
  expect_equal(step_record_from_json(to_json(StepRecord{}, {}), "m.json"), StepRecord{});
}

TEST(MetricsJsonTest, StepRecordNamesClassesAndSumsUp) {
  const auto read = json::parse(to_json(ThreeSteps().steps[1], kNames));
  // 4 + 6 + 8 + 0 of 25 images
  EXPECT_EQ(read.at("images"), 25);
  EXPECT_EQ(read.at("correct"), 18);
  EXPECT_DOUBLE_EQ(read.at("accuracy_percent"), 72);
  EXPECT_EQ(read.at("classes")[1],
            (json{{"label", 1}, {"class", "cup"}, {"images", 6}, {"correct", 6}}));
  EXPECT_EQ(read.at("detection").at("precision_percent"), 0);
  EXPECT_DOUBLE_EQ(read.at("pseudo_labels").at("accuracy_percent"), 60);
  // The byte that is no UTF-8 becomes the replacement character.
  EXPECT_EQ(read.at("classes")[3].at("class"), "p\xef\xbf\xbdn");
}

TEST(MetricsJsonTest, ConfusionIsKeptAsTriples) {
  StepRecord record;
  record.classes = {{0, 4, 3}, {2, 1, 0}, {3, 0, 0}};
  record.confusion = {{0, 0, 3}, {0, 1, 1}, {2, 0, 1}};
  const auto text = to_json(record, kNames);
  EXPECT_EQ(json::parse(text).at("confusion"), (json{{0, 0, 3}, {0, 1, 1}, {2, 0, 1}}));
  expect_equal(step_record_from_json(text, "m.json"), record);
}

TEST(MetricsJsonTest, RefusesDamagedConfusion) {
  struct Case {
    std::string confusion;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"{}", "confusion is not a list"},
      {"[3]", "confusion has an entry that is no triple"},
      {"[[3, 3]]", "confusion has an entry that is no triple"},
      {"[[3, 3, 2.5]]", "confusion is not a whole number"},
      {"[[3, -1, 2]]", "confusion is negative"},
      {"[[3, 3, 2]]", "confusion and classes disagree about class 3"},
      {"[[3, 3, 4]]", "confusion and classes disagree about class 3"},
      {"[[3, 3, 2], [3, 0, 2], [4, 0, 1]]", "confusion has a class that classes has not"},
  };
  const auto text = [](const std::string& confusion) {
    return R"({"classes": [{"label": 3, "images": 4, "correct": 2}], "confusion": )" + confusion +
           "}";
  };
  for (const auto& [confusion, message] : cases) {
    EXPECT_EQ(message_of([&, &bad = confusion] { step_record_from_json(text(bad), "m.json"); }),
              "m.json: is damaged: " + message)
        << confusion;
  }
  EXPECT_EQ(step_record_from_json(text("[[3, 3, 2], [3, 0, 2]]"), "m.json").confusion.size(), 2u);
}

TEST(MetricsJsonTest, RefusesDamagedRecords) {
  struct Case {
    std::string text;
    std::string message;
  };
  const auto classes = [](const std::string& entries) {
    return "{\"classes\": [" + entries + "]}";
  };
  const std::string good = R"({"label": 3, "images": 4, "correct": 2})";
  const std::vector<Case> cases = {
      {"", "m.json: is damaged: "},
      {classes(good).substr(0, 30), "m.json: is damaged: "},
      {"[]", "m.json: is damaged: "},
      {std::string(33, '['), "m.json: has JSON that nests more than 32 levels deep"},
      {"{}", "m.json: is damaged: "},
      {"{\"classes\": {}}", "m.json: is damaged: classes is not a list"},
      {classes("3"), "m.json: is damaged: "},
      {classes(R"({"label": 3, "images": 4})"), "m.json: is damaged: "},
      {classes(R"({"label": 3, "images": "4", "correct": 2})"),
       "m.json: is damaged: images is not a whole number"},
      {classes(R"({"label": 3, "images": 4.5, "correct": 2})"),
       "m.json: is damaged: images is not a whole number"},
      {classes(R"({"label": -1, "images": 4, "correct": 2})"),
       "m.json: is damaged: label is negative"},
      {classes(R"({"label": 3, "images": 18446744073709551615, "correct": 2})"),
       "m.json: is damaged: images is too large"},
      {classes(R"({"label": 3, "images": 4, "correct": 5})"),
       "m.json: is damaged: 5 of 4 images are right"},
      {classes(good + "," + good), "m.json: is damaged: class 3 is out of order"},
      {R"({"classes": [], "detection": {"detected": 1, "present": 2, "right": 2}})",
       "m.json: is damaged: more classes are right than were detected or present"},
      {R"({"classes": [], "detection": null})", "m.json: is damaged: "},
      {R"({"classes": [], "pseudo_labels": {"images": 1, "correct": 2}})",
       "m.json: is damaged: 2 of 1 images are right"},
  };
  for (const auto& [text, message] : cases) {
    const auto actual = message_of([&, &text = text] { step_record_from_json(text, "m.json"); });
    EXPECT_EQ(actual.substr(0, message.size()), message) << text;
  }
  EXPECT_EQ(step_record_from_json(classes(good), "m.json").classes.at(0).num_correct, 2);
}

TEST(MetricsJsonTest, RunIsWrittenInPercent) {
  const auto read = json::parse(to_json(ThreeSteps().summary()));
  EXPECT_DOUBLE_EQ(read.at("final_accuracy_percent"), 76);
  EXPECT_NEAR(read.at("mean_accuracy_percent"), 256.0 / 3, 1e-9);
  EXPECT_NEAR(read.at("final_s1_accuracy_percent"), 700.0 / 12, 1e-9);
  EXPECT_NEAR(read.at("forgetting_percent"), 15, 1e-9);
  EXPECT_NEAR(read.at("backward_transfer_percent"), -10, 1e-9);
  EXPECT_NEAR(read.at("mean_recall_percent"), 200.0 / 3, 1e-9);
  EXPECT_NEAR(read.at("pseudo_label_accuracy_percent"), 2200.0 / 35, 1e-9);
  EXPECT_EQ(read.at("source_group_accuracy_percent").size(), 3u);
  ASSERT_EQ(read.at("steps").size(), 3u);
  const auto& step = read.at("steps")[2];
  EXPECT_EQ(step.at("step"), 3);
  EXPECT_DOUBLE_EQ(step.at("accuracy_percent"), 76);
  EXPECT_NEAR(step.at("accuracy_drop_percent"), 400.0 / 12, 1e-9);
  EXPECT_NEAR(step.at("relative_accuracy_drop_percent"), 400.0 / 11, 1e-9);
  EXPECT_NEAR(step.at("s1_accuracy_rounded_percent"), 58.35, 1e-9);
  EXPECT_NEAR(step.at("group_accuracy_percent")[1], 90, 1e-9);
  EXPECT_DOUBLE_EQ(step.at("detection").at("precision_percent"), 50);
  EXPECT_EQ(step.at("pseudo_labels").at("images"), 5);
}

TEST(MetricsJsonTest, WhatARunDoesNotHaveIsLeftOutOrNull) {
  const StepRecord record{.classes = {{0, 2, 1}, {1, 0, 0}}};
  const auto run =
      summarise({.steps = {{0}, {1}}, .first_classes = {0}}, record.classes, {{record}});
  const auto read = json::parse(to_json(run));
  EXPECT_FALSE(read.contains("mean_recall_percent"));
  EXPECT_FALSE(read.contains("pseudo_label_accuracy_percent"));
  EXPECT_FALSE(read.at("steps")[0].contains("detection"));
  EXPECT_TRUE(read.at("steps")[0].at("group_accuracy_percent")[1].is_null());
}

TEST(MetricsJsonTest, RunIsReadBackAsWritten) {
  const auto run = ThreeSteps().summary();
  const auto read = run_metrics_from_json(to_json(run), "r.json");
  EXPECT_NEAR(read.final_accuracy, 0.76, 1e-12);
  EXPECT_NEAR(read.mean_accuracy, run.mean_accuracy, 1e-12);
  EXPECT_NEAR(read.final_s1_accuracy, run.final_s1_accuracy, 1e-12);
  EXPECT_NEAR(read.mean_s1_accuracy, run.mean_s1_accuracy, 1e-12);
  EXPECT_NEAR(read.forgetting, 0.15, 1e-12);
  EXPECT_NEAR(read.backward_transfer, -0.1, 1e-12);
  EXPECT_NEAR(read.mean_recall.value(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(read.mean_precision.value(), run.mean_precision.value(), 1e-12);
  EXPECT_NEAR(read.pseudo_label_accuracy.value(), 22.0 / 35, 1e-12);
  ASSERT_EQ(read.source_group_accuracy.size(), 3u);
  EXPECT_NEAR(read.source_group_accuracy[2], 0.2, 1e-12);
  ASSERT_EQ(read.steps.size(), 3u);
  const auto& step = read.steps[2];
  EXPECT_NEAR(step.accuracy, 0.76, 1e-12);
  EXPECT_NEAR(step.s1_accuracy, run.steps[2].s1_accuracy, 1e-12);
  EXPECT_NEAR(step.s1_accuracy_rounded, 0.5835, 1e-12);
  EXPECT_NEAR(step.accuracy_drop, 4.0 / 12, 1e-12);
  EXPECT_NEAR(step.relative_accuracy_drop, 4.0 / 11, 1e-12);
  EXPECT_NEAR(step.group_accuracy.at(1), 0.9, 1e-12);
  EXPECT_EQ(step.detection.value().num_detected, 2);
  EXPECT_EQ(step.pseudo_labels.value().num_images, 5);
  EXPECT_EQ(to_json(read), to_json(run));
}

TEST(MetricsJsonTest, WhatARunDoesNotHaveIsReadAsMissing) {
  const StepRecord record{.classes = {{0, 2, 1}, {1, 0, 0}}};
  const auto run =
      summarise({.steps = {{0}, {1}}, .first_classes = {0}}, record.classes, {{record}});
  const auto read = run_metrics_from_json(to_json(run), "r.json");
  EXPECT_FALSE(read.mean_recall.has_value());
  EXPECT_FALSE(read.pseudo_label_accuracy.has_value());
  EXPECT_FALSE(read.steps[0].detection.has_value());
  EXPECT_TRUE(std::isnan(read.steps[0].group_accuracy.at(1)));
}

TEST(MetricsJsonTest, RefusesDamagedRuns) {
  const auto good = json::parse(to_json(ThreeSteps().summary()));
  struct Case {
    std::string path;  // of the value to change
    json value;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"/final_accuracy_percent", "76", "final_accuracy_percent is not a number"},
      {"/final_accuracy_percent", 101, "final_accuracy_percent is 101 percent"},
      {"/forgetting_percent", -200, "forgetting_percent is -200 percent"},
      {"/mean_recall_percent", true, "mean_recall_percent is not a number"},
      {"/source_group_accuracy_percent", 3, "source_group_accuracy_percent is not a list"},
      {"/source_group_accuracy_percent/0", "x", "source_group_accuracy_percent is not a number"},
      {"/steps", json::object(), "steps is not a list"},
      {"/steps", json::array(), "there is no step"},
      {"/steps/1/step", 3, "step 2 is missing"},
      {"/steps/1/step", "2", "step is not a whole number"},
      {"/steps/0", 1, ""},
      {"/steps/0/detection/right", 3, "more classes are right than were detected or present"},
      {"/steps/0/pseudo_labels/correct", 11, "11 of 10 images are right"},
  };
  for (const auto& [path, value, message] : cases) {
    auto damaged = good;
    damaged[json::json_pointer(path)] = value;
    const auto actual = message_of([&] { run_metrics_from_json(damaged.dump(), "r.json"); });
    EXPECT_EQ(actual.substr(0, 20 + message.size()), "r.json: is damaged: " + message) << path;
  }
  for (const auto* key : {"final_accuracy_percent", "backward_transfer_percent", "steps"}) {
    auto damaged = good;
    damaged.erase(key);
    EXPECT_NE(message_of([&] { run_metrics_from_json(damaged.dump(), "r.json"); }).find(key),
              std::string::npos);
  }
  EXPECT_EQ(message_of([&] {
              run_metrics_from_json(good.dump().substr(0, 100), "r.json");
            }).substr(0, 20),
            "r.json: is damaged: ");
}

}  // namespace
}  // namespace proca::protocol

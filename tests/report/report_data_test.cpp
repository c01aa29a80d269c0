// What a report says about folders whose content is known.

#include "report/collect/report_data.h"
#include "state/state_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/files/lock_file.h"
#include "core/files/text_checksum.h"
#include "proca/core/error.h"
#include "report/page/report_page.h"
#include "report/report_fixture.h"
#include "support/message_of.h"

namespace proca::report {
namespace {

namespace fs = std::filesystem;
using test::message_of;

TEST_F(ReportDataTest, AnUnfinishedRunShowsWhatItHas) {
  const auto folder = unfinished_run();
  const auto document = collect({folder});
  EXPECT_EQ(document.at("format_version"), 1);
  EXPECT_EQ(document.at("title"), "own sketch → photo, proca");
  const auto& run = document.at("runs").at(0);
  EXPECT_EQ(run.at("id"), "run-1");
  EXPECT_EQ(run.at("folder"), folder.string());
  EXPECT_EQ(run.at("status"), "unfinished");
  EXPECT_EQ(run.at("preset"), "own");
  EXPECT_EQ(run.at("schedule"), (json{{0}, {1}}));
  EXPECT_EQ(run.at("steps_planned"), 2);
  EXPECT_EQ(run.at("classes"), (json{"</script><img onerror>", "cup", "fan"}));
  EXPECT_EQ(run.at("options").at(4),
            (json{{"section", "method"}, {"key", "prototypes"}, {"value", "2"}}));
  const auto& seed = run.at("seeds").at(0);
  EXPECT_EQ(seed.at("seed"), 3);
  // 5 of the 6 images of step 1's class; which classes S-1 is about nobody has said yet.
  EXPECT_NEAR(seed.at("metrics").at("final_accuracy_percent").get<double>(), 500.0 / 6, 1e-9);
  EXPECT_TRUE(seed.at("metrics").at("final_s1_accuracy_percent").is_null());
  for (const auto* key :
       {"s1_accuracy_percent", "accuracy_drop_percent", "relative_accuracy_drop_percent"}) {
    EXPECT_TRUE(seed.at("metrics").at("steps").at(0).at(key).is_null()) << key;
  }
}

TEST_F(ReportDataTest, AStepHasAllItsRecords) {
  const auto document = collect({unfinished_run()});
  const auto& steps = document.at("runs").at(0).at("seeds").at(0).at("steps");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps.at(0).at("step"), 0);
  EXPECT_EQ(steps.at(0).at("classes").at(0), (json{{"label", 0}, {"images", 6}, {"correct", 3}}));
  EXPECT_FALSE(steps.at(0).contains("detection"));
  const auto& step = steps.at(1);
  EXPECT_EQ(step.at("images"), 6);
  EXPECT_EQ(step.at("seconds"), 11.0);
  EXPECT_EQ(step.at("peak_memory_bytes"), 5000);
  EXPECT_TRUE(step.at("peak_gpu_memory_bytes").is_null());
  EXPECT_EQ(step.at("confusion"), (json{{0, 0, 5}, {0, 2, 1}, {1, 0, 3}, {1, 1, 1}}));
  EXPECT_EQ(step.at("detection").at("rule"), "scd");
  EXPECT_EQ(step.at("detection").at("classes").at(2).at("present"), false);
  EXPECT_EQ(step.at("detection").at("classes").at(0).at("present"), true);
  // A name with a line break is one image.
  EXPECT_EQ(step.at("pseudo_labels"), (json{{"images", 3}, {"correct", 4}, {"counts", {2, 0, 1}}}));
  const auto& prototype = step.at("prototypes").at(0);
  EXPECT_EQ(prototype.at("label"), 0);
  EXPECT_EQ(prototype.at("step"), 1);
  const auto& image = prototype.at("images").at(0);
  EXPECT_EQ(image.at("src").get<std::string>().substr(0, 23), "data:image/jpeg;base64,");
  EXPECT_EQ(image.at("path"), "</script>.png");
  EXPECT_EQ(image.at("predicted"), 0);
  EXPECT_EQ(image.at("soft_label"), (json{{0, 0.5}, {2, 0.375}, {1, 0.125}}));
}

TEST_F(ReportDataTest, PicturesHaveAPlaceForEveryPoint) {
  const auto document = collect({unfinished_run()});
  const auto& steps = document.at("runs").at(0).at("seeds").at(0).at("steps");
  const auto& embedding = steps.at(1).at("embedding");
  EXPECT_EQ(embedding.at("method"), "t-SNE");
  EXPECT_EQ(embedding.at("kinds"), (json{"target", "prototype", "source centre"}));
  const auto& points = embedding.at("points");
  EXPECT_EQ(points.at("x").size(), 5u);
  EXPECT_EQ(points.at("y").size(), 5u);
  EXPECT_EQ(points.at("kind"), (json{0, 0, 0, 1, 2}));
  EXPECT_EQ(points.at("label"), (json{0, 0, 1, -1, 2}));
  EXPECT_EQ(points.at("pseudo"), (json{0, 0, 2, 0, 2}));
  EXPECT_EQ(points.at("predicted"), (json{0, 2, 0, -1, -1}));
}

TEST_F(ReportDataTest, LossesAndMachineComeFromTheEvents) {
  const auto document = collect({unfinished_run()});
  const auto& seed = document.at("runs").at(0).at("seeds").at(0);
  EXPECT_EQ(seed.at("losses").at("terms"), (json{"source", "replay"}));
  EXPECT_EQ(seed.at("losses").at("points").at(0).at("values"), (json{2.5, nullptr}));
  EXPECT_EQ(seed.at("losses").at("points").at(1).at("values"), (json{1.5, 0.5}));
  EXPECT_EQ(seed.at("losses").at("points").at(1).at("epoch"), 2);
  const auto& machine = seed.at("machine");
  EXPECT_EQ(machine.at("device"), "a CPU");
  EXPECT_EQ(machine.at("threads"), 2);
  EXPECT_EQ(machine.at("started"), "2026-01-01T10:00:00Z");
  EXPECT_EQ(machine.at("ended"), "2026-01-01T10:00:11Z");
  EXPECT_EQ(machine.at("seconds"), 11.0);
}

TEST_F(ReportDataTest, ARunIsFinishedWhenAllSeedsHaveResults) {
  const auto folder = unfinished_run();
  test::write_state(folder / "seed-10", true, 2);
  fs::remove_all(folder / "seed-3");
  test::write_state(folder / "seed-3", true, 2);
  EXPECT_FALSE(collect_report({folder}, {}).is_finished);
  const protocol::ClassSchedule schedule{.steps = {{0}, {1}}, .first_classes = {0}};
  const std::vector records = {test::record_after(1), test::record_after(2)};
  const auto metrics = protocol::summarise(schedule, test::record_after(0).classes, records);
  json results = {{"seeds", json::array()}};
  for (const int64_t seed : {3, 10}) {
    results["seeds"].push_back(
        {{"seed", seed}, {"metrics", json::parse(protocol::to_json(metrics))}});
  }
  write_file(folder / "results.json", results.dump());
  const auto whole = collect_report({folder}, {.refresh_s = 5});
  EXPECT_TRUE(whole.is_finished);
  const auto document = json::parse(whole.json);
  EXPECT_FALSE(document.contains("refresh_s"));
  const auto& run = document.at("runs").at(0);
  EXPECT_EQ(run.at("status"), "finished");
  ASSERT_EQ(run.at("seeds").size(), 2u);
  EXPECT_EQ(run.at("seeds").at(0).at("seed"), 3);
  EXPECT_EQ(run.at("seeds").at(1).at("seed"), 10);
  EXPECT_EQ(run.at("seeds").at(1).at("metrics"), results.at("seeds").at(1).at("metrics"));
  // The memory after step 1 had one class, that after step 2 has both, and the pictures.
  const auto& steps = run.at("seeds").at(1).at("steps");
  EXPECT_EQ(steps.at(1).at("prototypes").size(), 1u);
  EXPECT_FALSE(steps.at(1).at("prototypes").at(0).at("images").at(0).contains("src"));
  EXPECT_EQ(steps.at(2).at("prototypes").size(), 2u);
  EXPECT_TRUE(steps.at(2).at("prototypes").at(1).at("images").at(0).contains("src"));
}

TEST_F(ReportDataTest, ARunThatIsBeingWrittenIsRunning) {
  const auto folder = unfinished_run();
  const LockFile lock(folder / "seed-3" / "lock");
  const auto document = collect({folder}, {.refresh_s = 5});
  EXPECT_EQ(document.at("runs").at(0).at("status"), "running");
  EXPECT_EQ(document.at("refresh_s"), 5);
}

TEST_F(ReportDataTest, ARunThatTrainsItsSourceModelHasNoSeedYet) {
  create_writable_folder(folder_ / "run/source-0");
  const LockFile lock(folder_ / "run/source-0/lock");
  const auto run = collect({folder_ / "run"}).at("runs").at(0);
  EXPECT_EQ(run.at("status"), "running");
  EXPECT_TRUE(run.at("seeds").empty());
}

TEST_F(ReportDataTest, AHalfWrittenLineIsPassedOver) {
  const auto folder = unfinished_run();
  const auto events = folder / "seed-3/events.jsonl";
  write_file(events, read_text_file(events) + R"({"time":"2026-01-01T10:0)");
  EXPECT_EQ(collect({folder}).at("runs").at(0).at("seeds").at(0).at("losses").at("points").size(),
            2u);
}

TEST_F(ReportDataTest, WhatAPowerCutLeftBehindTheCheckpointIsPassedOver) {
  const auto folder = unfinished_run();
  const auto events = folder / "seed-3/events.jsonl";
  write_file(events, read_text_file(events) + std::string(3, '\0') + "\noops\n");
  EXPECT_EQ(collect({folder}).at("runs").at(0).at("seeds").at(0).at("losses").at("points").size(),
            2u);
}

TEST_F(ReportDataTest, RunsOfSeveralTasksHaveNoTaskAsTitle) {
  unfinished_run("both/a");
  const auto config = folder_ / "both/b/run.toml";
  unfinished_run("both/b");
  auto text = read_text_file(config);
  text.replace(text.find("\"photo\""), 7, "\"paint\"");
  write_file(config, text);
  EXPECT_EQ(collect({folder_ / "both"}).at("title"), "2 runs");
}

TEST_F(ReportDataTest, EpochsOfTheSourceAreItsTraining) {
  test::write_state(folder_ / "state", /*labelled=*/false, 0);
  EXPECT_FALSE(
      collect({folder_ / "state"}).at("runs").at(0).at("seeds").at(0).contains("training"));
  const auto events = folder_ / "state/events.jsonl";
  write_file(events, read_text_file(events) + R"({"time":"t","event":"epoch","epoch":1,"loss":2.5,)"
                                              R"("holdout_accuracy_percent":40.0,"seconds":3.0})"
                                              "\n"
                                              R"({"time":"t","event":"epoch","epoch":2,"loss":1.5,)"
                                              R"("holdout_accuracy_percent":null})"
                                              "\n");
  const auto seed = collect({folder_ / "state"}).at("runs").at(0).at("seeds").at(0);
  EXPECT_EQ(
      seed.at("training").at("points"),
      (json{{{"epoch", 1}, {"loss", 2.5}, {"holdout_accuracy_percent", 40.0}, {"seconds", 3.0}},
            {{"epoch", 2}, {"loss", 1.5}}}));
}

TEST_F(ReportDataTest, ARunShowsTheTrainingInTheFolderOfItsSourceModel) {
  const auto folder = unfinished_run();
  test::write_state(folder / "source-3", /*labelled=*/false, 0);
  const auto events = folder / "source-3/events.jsonl";
  write_file(events, read_text_file(events) + R"({"time":"t","event":"epoch","epoch":1,"loss":2.5})"
                                              "\n");
  const auto seed = collect({folder}).at("runs").at(0).at("seeds").at(0);
  EXPECT_EQ(seed.at("training").at("points"), (json{{{"epoch", 1}, {"loss", 2.5}}}));
}

TEST_F(ReportDataTest, AStepHasItsVerdictAndTheReasonsForItsClasses) {
  test::write_state(folder_ / "state", /*labelled=*/false);
  {
    state::StateWriter writer(folder_ / "state");
    auto detection = json::parse(test::detection_text());
    detection["classes"][0]["why"] = "kept: 9 % of the images";
    writer.put_text("steps/01/detection.json", detection.dump());
    writer.put_text("steps/01/health.json",
                    R"({"verdict": "doubtful", "reason": "Too few images.", "trust": null,)"
                    R"( "images": 6, "agreement": 0.5, "kept_model": "adapted", "more": []})");
    writer.commit(state::StateDirectory::read_manifest(folder_ / "state"));
  }
  const auto step =
      collect({folder_ / "state"}).at("runs").at(0).at("seeds").at(0).at("steps").at(0);
  EXPECT_EQ(step.at("detection").at("classes").at(0).at("why"), "kept: 9 % of the images");
  EXPECT_FALSE(step.at("detection").at("classes").at(1).contains("why"));
  EXPECT_EQ(step.at("health"), (json{{"verdict", "doubtful"},
                                     {"reason", "Too few images."},
                                     {"images", 6},
                                     {"agreement", 0.5},
                                     {"kept_model", "adapted"}}));
}

TEST_F(ReportDataTest, AStateDirectoryIsARunOfOneSeedWithoutLabels) {
  test::write_state(folder_ / "state", /*labelled=*/false, 2);
  const auto document = collect({folder_ / "state"});
  const auto& run = document.at("runs").at(0);
  EXPECT_EQ(run.at("name"), "state, proca");
  EXPECT_EQ(run.at("status"), "finished");
  EXPECT_FALSE(run.contains("schedule"));
  const auto& seed = run.at("seeds").at(0);
  EXPECT_TRUE(seed.at("seed").is_null());
  EXPECT_FALSE(seed.contains("metrics"));
  ASSERT_EQ(seed.at("steps").size(), 2u);
  const auto& step = seed.at("steps").at(0);
  EXPECT_EQ(step.at("step"), 1);
  EXPECT_FALSE(step.contains("classes"));
  EXPECT_FALSE(step.at("detection").at("classes").at(0).contains("present"));
  EXPECT_FALSE(step.at("pseudo_labels").contains("correct"));
  EXPECT_FALSE(step.at("embedding").at("points").contains("label"));
}

TEST_F(ReportDataTest, RunsBesideEachOtherAreToldApart) {
  unfinished_run("demo/a");
  unfinished_run("demo/b");
  const auto document = collect({folder_ / "demo"});
  EXPECT_EQ(document.at("title"), "own sketch → photo");
  EXPECT_EQ(document.at("runs").at(0).at("name"), "own sketch → photo, proca (a)");
  EXPECT_EQ(document.at("runs").at(1).at("name"), "own sketch → photo, proca (b)");
  EXPECT_EQ(document.at("runs").at(1).at("id"), "run-2");
}

TEST_F(ReportDataTest, RunsOfTheSameFolderNameAreToldApartByTheirPaths) {
  const auto first = unfinished_run("one/proca"), second = unfinished_run("two/proca");
  const auto document = collect({first / "", second});
  EXPECT_EQ(document.at("runs").at(0).at("name"), "own sketch → photo, proca (one/proca)");
  EXPECT_EQ(document.at("runs").at(1).at("name"), "own sketch → photo, proca (two/proca)");
}

TEST_F(ReportDataTest, AReproductionHasRunsOfSeveralSeedsAndTables) {
  const auto method = folder_ / "out/runs/own/sketch/photo/proca";
  for (const auto* seed : {"seed-0", "seed-1"}) {
    test::write_run_config(method / seed);
    test::write_state(method / seed / seed, true);
  }
  write_file(folder_ / "out/mine.table.json",
             R"({"title": "Mine", "tables": [{"title": "Final", "columns": ["", "A"], "rows":)"
             R"([{"label": "ours", "cells": [{"text": "1.0", "best": true}]}], "notes": []}]})");
  const auto document = collect({folder_ / "out"});
  EXPECT_EQ(document.at("title"), "Mine");
  EXPECT_EQ(document.at("tables").at(0).at("rows").at(0).at("cells").at(0).at("text"), "1.0");
  ASSERT_EQ(document.at("runs").size(), 1u);
  const auto& seeds = document.at("runs").at(0).at("seeds");
  ASSERT_EQ(seeds.size(), 2u);
  EXPECT_EQ(seeds.at(1).at("seed"), 1);
}

TEST_F(ReportDataTest, ManyPicturesArePrincipalComponents) {
  std::vector<fs::path> folders;
  for (int i = 0; i < 16; ++i) folders.push_back(unfinished_run("r" + std::to_string(i)));
  const auto document = collect(folders);  // 32 pictures
  const auto& steps = document.at("runs").at(0).at("seeds").at(0).at("steps");
  EXPECT_EQ(steps.at(1).at("embedding").at("method"), "PCA");
}

TEST_F(ReportDataTest, TextThatIsNotUtf8IsReplaced) {
  const auto odd = folder_ / "r\xffn";
  test::write_run_config(odd);
  test::write_state(odd / "seed-0", true);
  const auto document = collect({odd}, {.title = "a\xfe"});
  EXPECT_EQ(document.at("title"), "a\xef\xbf\xbd");
  EXPECT_NE(document.at("runs").at(0).at("folder").get<std::string>().find("r\xef\xbf\xbdn"),
            std::string::npos);
}

TEST_F(ReportDataTest, HostileNamesReachThePageAsText) {
  const auto page = report_page(collect_report({unfinished_run()}, {}).json);
  EXPECT_EQ(page.find("<img onerror"), page.npos);
  EXPECT_EQ(page.find("</script>.png"), page.npos);
  EXPECT_NE(page.find("\\u003c/script>.png"), page.npos);
}

TEST_F(ReportDataTest, ADocumentIsReadBack) {
  const auto document = collect_report({unfinished_run()}, {.refresh_s = 2});
  write_file(folder_ / "d.json", document.json);
  auto expected = json::parse(document.json);
  expected.erase("refresh_s");
  EXPECT_EQ(json::parse(read_document(folder_ / "d.json", {}).json), expected);
  expected["title"] = "other";
  EXPECT_EQ(json::parse(read_document(folder_ / "d.json", {.title = "other"}).json), expected);
}

}  // namespace
}  // namespace proca::report

// Folders and files that a report refuses.

#include <fmt/format.h>

#include "core/files/text_checksum.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "report/report_fixture.h"
#include "support/message_of.h"

namespace proca::report {
namespace {

namespace fs = std::filesystem;
using test::message_of;

TEST_F(ReportDataTest, RefusesFoldersThatAreNoneOfThese) {
  create_writable_folder(folder_ / "empty");
  EXPECT_EQ(message_of([&] { collect({folder_ / "empty"}); }),
            (folder_ / "empty").string() +
                ": holds neither a run, nor a state directory, nor what proca reproduce writes: "
                "there is no run.toml, state.json or runs in it");
  EXPECT_EQ(message_of([&] { collect({folder_ / "missing"}); }),
            (folder_ / "missing").string() + ": no such folder");
}

TEST_F(ReportDataTest, NamesTheFileThatIsDamaged) {
  struct Case {
    std::string file;
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"steps/01/metrics.json", R"({"classes": 3})", "is damaged: classes is not a list"},
      {"steps/01/metrics.json", R"({"classes": [{"label": 9, "images": 1, "correct": 0}]})",
       "is damaged: there is no class 9"},
      {"steps/01/detection.json", "{}", "is damaged: "},
      {"steps/01/detection.json", "{", "is damaged: "},
      {"steps/01/prototypes.json", R"({"prototypes_per_class": 1, "captured": [{"label": 3}]})",
       "is damaged: there is no class 3"},
      {"steps/01/pseudo_labels.csv", "path,label\na.png,x\n", "is damaged: \"x\" is no label"},
      {"steps/01/pseudo_labels.csv", "path,label\na.png,7\n", "is damaged: there is no class 7"},
      {"steps/01/pseudo_labels.csv", "path,label\na.png,0", "is damaged: the last line has no end"},
      {"steps/01/predictions.csv", "path,label,predicted\na.png,0\n",
       "is damaged: line 2 is not one of a label"},
      {"steps/01/predictions.csv", "path,label,predicted\na.png,0,3\n",
       "is damaged: there is no class 3"},
      {"steps/01/health.json", "{}", "is damaged: "},
      {"steps/01/health.json", R"({"verdict": "fine", "reason": ""})",
       "is damaged: \"fine\" is no verdict"},
      {"steps/01/health.json", R"({"verdict": "good", "reason": "", "trust": "high"})",
       "is damaged: trust is no number"},
  };
  int number = 0;
  for (const auto& [file, text, message] : cases) {
    const auto state = folder_ / std::to_string(number++);
    test::write_state(state, true);
    {
      state::StateWriter writer(state);
      writer.put_text(file, text);
      writer.commit(state::StateDirectory::read_manifest(state));
    }
    const auto begin = (state / file).string() + ": " + message;
    EXPECT_EQ(message_of([&] { collect({state}); }).substr(0, begin.size()), begin) << text;
  }
}

TEST_F(ReportDataTest, NamesFilesOfARunThatAreDamaged) {
  const auto folder = unfinished_run();
  const auto starts_with = [&](const fs::path& file, const std::string& more) {
    const auto begin = (folder / file).string() + more;
    EXPECT_EQ(message_of([&] { collect({folder}); }).substr(0, begin.size()), begin);
  };
  const auto events = read_text_file(folder / "seed-3/events.jsonl");
  write_file(folder / "seed-3/events.jsonl", "oops" + events.substr(4));
  starts_with("seed-3/events.jsonl", ":1: is damaged: ");
  write_file(folder / "seed-3/events.jsonl", events + "{\"event\": \"step\"}\n");
  starts_with("seed-3/events.jsonl", ":5: is damaged: ");
  write_file(folder / "seed-3/events.jsonl", events);
  write_file(folder / "results.json", "{\"seeds\": [{\"seed\": 3}]}");
  starts_with("results.json", ": is damaged: ");
  // Deep enough to exhaust the stack of what copies it.
  const auto deep = std::string(500'000, '[') + std::string(500'000, ']');
  write_file(folder / "results.json", R"({"seeds": [{"seed": 3, "metrics": )" + deep + "}]}");
  starts_with("results.json", ": has JSON that nests more than 32 levels deep");
  fs::remove(folder / "results.json");
  write_file(folder / "seed-3/events.jsonl", R"({"device": )" + deep + "}\n" + events);
  starts_with("seed-3/events.jsonl", ":1: has JSON that nests more than 32 levels deep");
  for (const auto* number : {"92233720368547758081", "1e30", "1.5", "9223372036854775808"}) {
    write_file(folder / "seed-3/events.jsonl",
               fmt::format("{{\"time\": \"t\", \"event\": \"adapt_epoch\", \"step\": {}}}\n{}",
                           number, events));
    starts_with("seed-3/events.jsonl", ":1: is damaged: ");
  }
  write_file(folder / "seed-3/events.jsonl", events);
  // Not what the manifest says: a checksum tells.
  write_file(folder / "seed-3/steps/01/detection.json", test::detection_text(0.5));
  starts_with("seed-3/steps/01/detection.json", ": is missing or damaged: ");
}

TEST_F(ReportDataTest, AFlippedBitIsFoundInEveryFileOfARun) {
  const auto folder = unfinished_run();
  const auto events = folder / "seed-3/events.jsonl";
  {
    state::StateWriter writer(folder / "seed-3");
    auto manifest = writer.state().manifest();
    manifest.events_crc = crc32(bytes_of(read_text_file(events)));
    writer.commit(manifest);
  }
  const auto config = folder / "run.toml";
  write_file(config, append_toml_checksum(read_text_file(config)));
  const auto results = folder / "results.json";
  write_file(results, append_json_checksum("{\n  \"seeds\": []\n}\n"));
  EXPECT_NO_THROW(collect({folder}));
  for (const auto& path : {events, config, results}) {
    const auto content = read_text_file(path);
    for (size_t i = 0; i < content.size(); i += 11) {
      auto damaged = content;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      // A seal that is none any more is damaged alone.
      if (path != events && i > content.size() - 25) continue;
      write_file(path, damaged);
      EXPECT_EQ(message_of([&] { collect({folder}); }).find(path.string()), 0u) << i;
    }
    write_file(path, content);
  }
  EXPECT_NO_THROW(collect({folder}));
}

TEST_F(ReportDataTest, RefusesWhatIsNoDocument) {
  const auto path = folder_ / "d.json";
  const auto refused = [&](const std::string& text, const std::string& message) {
    write_file(path, text);
    const auto begin = path.string() + ": " + message;
    EXPECT_EQ(message_of([&] { read_document(path, {}); }).substr(0, begin.size()), begin) << text;
  };
  refused("", "is damaged: ");
  refused("[]", "is damaged: ");
  refused("{}", "is damaged: ");
  refused(R"({"format_version": 2, "runs": []})", "format version 2; this program reads version 1");
  refused(R"({"format_version": 1})", "is damaged: ");
  refused(R"({"format_version": 1, "title": 7, "runs": []})", "is damaged: ");
  refused(R"({"format_version": 1, "title": "", "runs": 3})", "is damaged: runs is not a list");
  const auto with = [](const std::string& rest) {
    return R"({"format_version": 1, "title": "", "runs": [)" + rest + "}";
  };
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"3]", "runs[0] is not an object"},
      {R"({"name": 3}])", "runs[0].name is not text"},
      {R"({"classes": "a"}])", "runs[0].classes is not a list"},
      {R"({"classes": ["a", {}]}])", "runs[0].classes[1] is not text"},
      {R"({"schedule": [[0], 1]}])", "runs[0].schedule[1] is not a list"},
      {R"({"seeds": [{"steps": [{"step": "1"}]}]}])",
       "runs[0].seeds[0].steps[0].step is not a number"},
      {R"({"seeds": [{"metrics": {"final_accuracy_percent": "1"}}]}])",
       "runs[0].seeds[0].metrics.final_accuracy_percent is not a number"},
      {R"({}, {"seeds": [{"losses": {"points": [{"values": [0, "x"]}]}}]}])",
       "runs[1].seeds[0].losses.points[0].values[1] is not a number"},
      {R"(], "tables": {})", "tables is not a list"},
      {R"(], "tables": [{"title": "", "columns": [], "rows": [{"label": "", "cells": []}]}])",
       "a row of a table has not a cell for every column"}};
  for (const auto& [rest, message] : wrong) refused(with(rest), "is damaged: " + message);
  // Without the library's own words.
  refused(with(R"(], "tables": [{}])"), "is damaged: key 'title' not found");
  refused(std::string(33, '['), "has JSON that nests more than 32 levels deep");
}

}  // namespace
}  // namespace proca::report

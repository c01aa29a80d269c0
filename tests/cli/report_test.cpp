// Reports as a user makes them: of runs, states and reproductions, finished or not.

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/file.h"
#include "support/file_calls.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::run_proca;
using test::run_well;

class ReportTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "source", 12);
    for (int64_t label = 0; label < 3; ++label) {
      for (int64_t i = 0; i < 8; ++i) {
        auto image = test::bar_image(label, 100 + i);
        for (auto& value : image.pixels) value = static_cast<uint8_t>(230 - value / 2);
        const std::vector<std::string> names = {"upright", "level", "frame"};
        test::write_png(
            *shared_ / "target" / names[static_cast<size_t>(label)] / (std::to_string(i) + ".png"),
            image);
      }
    }
    write_file(*shared_ / "own.toml",
               "summary = \"bars\"\nclasses-per-step = 1\nsteps = 3\n"
               "class-order = [\"frame\", \"level\", \"upright\"]\n"
               "[pretrain]\nbackbone = \"resnet-small\"\nimage-size = 16\nepochs = 2\n"
               "[adapt]\nepochs = 2\nbatch-size = 8\nlr = 0.01\n[method]\nprototypes = 2\n");
    run_result_ = run_well({"run", "--preset", path("own.toml"), "--data-root", path(""),
                            "--source", "source", "--target", "target", "--method", "proca",
                            "--seeds", "0,1", "--out", path("run")});
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }

  // The document of a page.
  static json data_of(const std::string& page) {
    const std::string open = "id=\"report-data\">";
    const auto text = read_text_file(page);
    const auto begin = text.find(open) + open.size();
    return json::parse(text.substr(begin, text.find("</script>", begin) - begin));
  }

  static test::TemporaryFolder* shared_;
  static test::ProgramResult run_result_;
};
test::TemporaryFolder* ReportTest::shared_ = nullptr;
test::ProgramResult ReportTest::run_result_;

TEST_F(ReportTest, ARunEndsWithAReportThatHasAllParts) {
  EXPECT_NE(run_result_.err.find("report: " + path("run/report.html")), std::string::npos);
  const auto document = data_of(path("run/report.html"));
  const auto& run = document.at("runs").at(0);
  EXPECT_EQ(run.at("status"), "finished");
  EXPECT_EQ(run.at("classes").size(), 3u);
  ASSERT_EQ(run.at("seeds").size(), 2u);
  for (const auto& seed : run.at("seeds")) {
    EXPECT_EQ(seed.at("metrics").at("steps").size(), 3u);
    EXPECT_FALSE(seed.at("losses").at("points").empty());
    EXPECT_GT(seed.at("machine").at("peak_memory_bytes").get<int64_t>(), 0);
    EXPECT_EQ(seed.at("machine").at("precision"), "fp32");
    ASSERT_EQ(seed.at("steps").size(), 4u);  // with the source model's
    for (const auto& step : seed.at("steps")) {
      int64_t images = 0;
      for (const auto& entry : step.at("confusion")) images += entry.at(2).get<int64_t>();
      EXPECT_EQ(images, 24);
      EXPECT_FALSE(step.at("embedding").at("points").at("x").empty());
    }
    const auto& last = seed.at("steps").at(3);
    EXPECT_EQ(last.at("pseudo_labels").at("images"), 8);
    EXPECT_EQ(last.at("detection").at("classes").size(), 3u);
    const auto& image = last.at("prototypes").at(0).at("images").at(0);
    EXPECT_TRUE(image.at("src").get<std::string>().starts_with("data:image/jpeg;base64,"));
    // All 24 images, whose classes are known, and the prototypes, whose too.
    const auto& points = last.at("embedding").at("points");
    const auto& kinds = points.at("kind");
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), 0), 24);
    // A prototype's true class is known, and every mistake is one of the confusions.
    EXPECT_GE(last.at("prototypes").at(0).at("images").at(0).at("true_label"), 0);
    for (const auto& group : last.value("mistakes", json::array())) {
      const auto& confusion = last.at("confusion");
      EXPECT_TRUE(std::any_of(confusion.begin(), confusion.end(), [&](const auto& entry) {
        return entry.at(0) == group.at("label") && entry.at(1) == group.at("predicted");
      }));
      EXPECT_TRUE(group.at("images").at(0).contains("src"));
    }
    EXPECT_EQ(points.at("label").size(), kinds.size());
    for (const auto& label : points.at("label")) EXPECT_GE(label, 0);
  }
}

TEST_F(ReportTest, NoReportIsWrittenIfNoneIsWanted) {
  run_well({"run", "--preset", path("own.toml"), "--data-root", path(""), "--source", "source",
            "--target", "target", "--method", "source-only", "--source-state", path("run/source-0"),
            "--out", path("bare"), "--no-report"});
  EXPECT_FALSE(fs::exists(path("bare/report.html")));
  EXPECT_TRUE(fs::exists(path("bare/results.json")));
}

TEST_F(ReportTest, DataAndPageComeFromEachOther) {
  const auto result = run_well({"report", path("run"), "--out", path("a.html"), "--json",
                                path("a.json"), "--title", "Bars </title>"});
  EXPECT_EQ(result.out, path("a.html") + "\n");
  const auto document = json::parse(read_text_file(path("a.json")));
  EXPECT_EQ(document.at("title"), "Bars </title>");
  EXPECT_EQ(data_of(path("a.html")), document);
  run_well({"report", path("a.json"), "--out", path("b.html")});
  EXPECT_EQ(read_text_file(path("a.html")), read_text_file(path("b.html")));
}

TEST_F(ReportTest, AReportGoesIntoTheFolderItIsAbout) {
  fs::copy(path("run"), path("placed"), fs::copy_options::recursive);
  fs::remove(path("placed/report.html"));
  const auto result = run_well({"report", path("placed/")});
  EXPECT_EQ(result.out, path("placed/report.html") + "\n");
  EXPECT_EQ(data_of(path("placed/report.html")).at("runs").size(), 1u);
}

TEST_F(ReportTest, AStateThatWasAdaptedHasAReport) {
  fs::copy(path("run/source-0"), path("state"), fs::copy_options::recursive);
  run_well({"adapt", "--state", path("state"), "--target", path("target/frame"), "--epochs", "2",
            "--batch-size", "8", "--prototypes", "2"});
  run_well({"report", path("state"), "--out", path("state.html")});
  const auto document = data_of(path("state.html"));
  const auto& run = document.at("runs").at(0);
  EXPECT_EQ(run.at("status"), "finished");
  const auto& step = run.at("seeds").at(0).at("steps").at(0);
  EXPECT_FALSE(step.contains("classes"));
  EXPECT_EQ(step.at("images"), 8);
  const auto& points = step.at("embedding").at("points");
  EXPECT_FALSE(points.contains("label"));
  const auto& kinds = points.at("kind");
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), 0), 8);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), 2), 3);  // centres of the source classes
}

TEST_F(ReportTest, WatchingEndsWithTheRuns) {
  const auto result = run_well(
      {"report", path("run"), "--watch", "--interval", "0.1", "--out", path("watched.html")});
  EXPECT_FALSE(data_of(path("watched.html")).contains("refresh_s"));
}

TEST_F(ReportTest, WatchingARunThatIsNotFinishedEndsWithCtrlC) {
  fs::copy(path("run"), path("half"), fs::copy_options::recursive);
  fs::remove(path("half/results.json"));
  const auto result = test::run_and_interrupt(
      {"report", path("half"), "--watch", "--interval", "0.1", "--out", path("half.html")},
      {.below = path("half.html"), .call = "rename"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto document = data_of(path("half.html"));
  EXPECT_EQ(document.at("refresh_s"), 0.1);
  EXPECT_EQ(document.at("runs").at(0).at("status"), "unfinished");
  EXPECT_EQ(document.at("runs").at(0).at("seeds").at(1).at("metrics").at("steps").size(), 3u);
}

TEST_F(ReportTest, MistakesGetOneSentence) {
  fs::create_directories(path("nothing"));
  fs::copy(path("run"), path("damaged"), fs::copy_options::recursive);
  write_file(path("damaged/seed-1/steps/02/metrics.json"), "{}");
  struct Case {
    std::vector<std::string> words;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"report"}, "dir is missing"},
      {{"report", path("missing")}, path("missing") + ": no such folder"},
      {{"report", path("nothing")}, path("nothing") + ": holds neither a run"},
      {{"report", path("own.toml")}, path("own.toml") + ": no such folder"},
      {{"report", path("missing.json")}, path("missing.json") + ": "},
      {{"report", path("damaged")}, "steps/02/metrics.json: is missing or damaged"},
      {{"report", path("run"), "--interval", "0"}, "--interval: \"0\" is out of range"},
      {{"report", path("run"), "--out", path("own.toml/x.html")}, path("own.toml/x.html")},
  };
  for (const auto& [words, message] : cases) {
    auto all = words;
    if (std::find(all.begin(), all.end(), "--out") == all.end()) {
      all.insert(all.end(), {"--out", path("bad.html")});
    }
    const auto result = run_proca(all);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_FALSE(fs::exists(path("bad.html"))) << message;
  }
}

}  // namespace
}  // namespace proca

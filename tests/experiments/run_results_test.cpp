#include "experiments/run_results.h"

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca::experiments {
namespace {

using test::message_of;

class RunResultsTest : public testing::Test {
 protected:
  std::string refusal_of_data_root(const std::string& text) const {
    write_file(folder_ / "run.toml", text);
    return message_of([&] { option_of(folder_.path(), "data-root"); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(RunResultsTest, TheDataRootIsOneFolder) {
  write_file(folder_ / "run.toml", "data-root = \"/data\"\n[method]\ndata-root = \"/other\"\n");
  EXPECT_EQ(option_of(folder_.path(), "data-root"), "/data");
  const auto path = (folder_ / "run.toml").string();
  EXPECT_EQ(refusal_of_data_root("data-root = []\n"),
            path + ": is damaged: data-root is not one value");
  EXPECT_EQ(refusal_of_data_root("data-root = [\"a\", \"b\"]\n"),
            path + ": is damaged: data-root is not one value");
  EXPECT_EQ(refusal_of_data_root("[method]\ndata-root = \"a\"\n"),
            path + ": is damaged: it names no data-root");
}

// Deep enough to exhaust the stack of what writes it again.
TEST_F(RunResultsTest, RefusesResultsThatNestTooDeeply) {
  const auto deep = std::string(500'000, '[') + std::string(500'000, ']');
  write_file(folder_ / "results.json", R"({"seeds": [{"seed": 0, "metrics": )" + deep + "}]}");
  EXPECT_EQ(message_of([&] { read_results(folder_.path(), 0); }),
            (folder_ / "results.json").string() + ": has JSON that nests more than 32 levels deep");
  EXPECT_EQ(message_of([&] { detection_from_json(deep, "detection.json"); }),
            "detection.json: has JSON that nests more than 32 levels deep");
}

TEST_F(RunResultsTest, DetectedClassesAreThoseThatThereAre) {
  const auto with_detected = [](const std::string& labels) {
    return R"({"rule": "scd", "threshold": 0.5, "detected": )" + labels +
           R"(, "classes": [{"label": 0, "cumulative_probability": 0.7},)" +
           R"({"label": 1, "cumulative_probability": 0.2}]})";
  };
  EXPECT_EQ(detection_from_json(with_detected("[1]"), "d").detected, std::vector<int64_t>{1});
  EXPECT_TRUE(detection_from_json(with_detected("[]"), "d").detected.empty());
  for (const std::string label : {"2", "-1", "0.5", "1e30", "18446744073709551616", "\"a\""}) {
    const auto message =
        message_of([&] { detection_from_json(with_detected("[" + label + "]"), "d"); });
    EXPECT_TRUE(message.starts_with("d: is damaged: class ")) << label << ": " << message;
  }
  for (const std::string no_list : {"1", "null", R"({"a": 1})"}) {
    EXPECT_EQ(message_of([&] { detection_from_json(with_detected(no_list), "d"); }),
              "d: is damaged: \"detected\" is no list");
  }
}

}  // namespace
}  // namespace proca::experiments

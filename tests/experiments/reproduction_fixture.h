#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "experiments/reproduction.h"
#include "support/temporary_folder.h"

namespace proca::experiments {

namespace fs = std::filesystem;
using protocol::Experiment;
using Words = std::vector<std::string>;

// The demo's domains as empty folders: planning looks no further.
class ReproductionTest : public ::testing::Test {
 protected:
  ReproductionTest() {
    for (const auto* domain : {"sketch", "photo"}) fs::create_directories(data() / domain);
  }

  fs::path data() const { return fs::canonical(folder_.path()) / "data"; }
  fs::path out() const { return fs::canonical(folder_.path()) / "out"; }

  Experiment parse(const std::string& tables, const std::string& seeds = "0") const {
    return protocol::parse_experiment(
        "title = \"T\"\npreset = \"demo\"\nview = \"tasks\"\nseeds = [" + seeds +
            "]\n[tasks]\n\"S->P\" = [\"sketch\", \"photo\"]\n" + tables,
        "mine", "mine.toml");
  }
  ReproductionOptions options(std::map<std::string, Words> passed_on = {}) const {
    return {.program = "/bin/proca", .data_root = data(), .out = out(), .options = passed_on};
  }
  ReproductionPlan plan(const std::string& tables,
                        std::map<std::string, Words> passed_on = {}) const {
    return plan_reproduction(parse(tables), options(std::move(passed_on)));
  }
  // Where the only run of a plan is kept, below the folder of its task.
  std::string slug(const std::string& tables, std::map<std::string, Words> passed_on = {}) const {
    const auto planned = plan(tables, std::move(passed_on));
    EXPECT_EQ(planned.runs.size(), 1u);
    return planned.runs[0].folder.parent_path().filename().string();
  }

  test::TemporaryFolder folder_;
};

inline const std::string kProca = "[run.ProCA]\nmethod = \"proca\"\n";
inline const std::string kBoth = "[run.\"Source only\"]\nmethod = \"source-only\"\n" + kProca;

}  // namespace proca::experiments

#pragma once

#include <gtest/gtest.h>

#include "report/collect/report_data.h"
#include "report/run_folders.h"
#include "support/temporary_folder.h"

namespace proca::report {

using nlohmann::json;

class ReportDataTest : public ::testing::Test {
 protected:
  static json collect(const std::vector<std::filesystem::path>& folders,
                      const ReportOptions& options = {}) {
    return json::parse(collect_report(folders, options).json);
  }
  // A run of two planned steps that has done one, with one seed.
  std::filesystem::path unfinished_run(const std::string& name = "run") {
    test::write_run_config(folder_ / name);
    test::write_state(folder_ / name / "seed-3", /*labelled=*/true);
    return folder_ / name;
  }

  test::TemporaryFolder folder_;
};

}  // namespace proca::report

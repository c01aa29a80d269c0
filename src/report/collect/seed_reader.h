#pragma once

#include "report/collect/run_reader.h"
#include "report/images/image_set.h"

namespace proca::report {

/// What all seeds of a run share.
struct RunFrame {
  std::vector<std::vector<int64_t>> schedule;  ///< labels by step; empty if not known
  const ImageSet* target = nullptr;            ///< null if the images are not there
};

/// One seed as in docs/formats/report_data.md; see `read_run`.
Json read_seed(const RunFolders::Seed& seed, const RunFrame& frame, const Detail& detail);

}  // namespace proca::report

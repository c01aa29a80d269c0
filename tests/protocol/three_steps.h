#pragma once

#include "protocol/run_metrics.h"

namespace proca::test {

/// A run of three steps, small enough to work out on paper. Right images of each class
/// (of 4, 6, 10 and 5 images), and the share of right ones in each step's group:
///
/// |        | class 0 | 1 | 2 | 3 | group {0, 1} | {2}  | {3} |
/// |--------|---------|---|---|---|--------------|------|-----|
/// | source | 2       | 3 | 5 | 1 | 5/10         | 5/10 | 1/5 |
/// | step 1 | 4       | 5 | 4 | 1 | 9/10         | 4/10 | 1/5 |
/// | step 2 | 4       | 6 | 8 | 0 | 10/10        | 8/10 | 0/5 |
/// | step 3 | 2       | 4 | 9 | 4 | 6/10         | 9/10 | 4/5 |
struct ThreeSteps {
  protocol::ClassSchedule schedule{.steps = {{0, 1}, {2}, {3}}, .first_classes = {0, 1}};
  std::vector<protocol::ClassAccuracy> source{{0, 4, 2}, {1, 6, 3}, {2, 10, 5}, {3, 5, 1}};
  std::vector<protocol::StepRecord> steps{{.classes = {{0, 4, 4}, {1, 6, 5}, {2, 10, 4}, {3, 5, 1}},
                                           .detection = protocol::DetectionQuality{3, 2, 2},
                                           .pseudo_labels = protocol::Tally{10, 9}},
                                          {.classes = {{0, 4, 4}, {1, 6, 6}, {2, 10, 8}, {3, 5, 0}},
                                           .detection = protocol::DetectionQuality{0, 1, 0},
                                           .pseudo_labels = protocol::Tally{20, 12}},
                                          {.classes = {{0, 4, 2}, {1, 6, 4}, {2, 10, 9}, {3, 5, 4}},
                                           .detection = protocol::DetectionQuality{2, 1, 1},
                                           .pseudo_labels = protocol::Tally{5, 1}}};

  protocol::RunMetrics summary() const { return protocol::summarise(schedule, source, steps); }
};

}  // namespace proca::test

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/tensorboard.h"
#include "proca/adaptation/prototype_memory.h"
#include "proca/state/event_log.h"

namespace proca::state {

/// Shows training in TensorBoard: every number of an event is a curve, over the epochs or
/// steps that the events are about, and so are the prototypes of a step.
///
/// | event         | tags                                  | over                             |
/// |---------------|---------------------------------------|----------------------------------|
/// | `epoch`       | `pretrain/loss`, ...                  | epochs of source training        |
/// | `adapt_epoch` | `adapt/loss/alignment`, ...           | epochs of adaptation, all steps' |
/// | others        | `step/seconds`, `evaluation/...`, ... | steps                            |
class TensorBoardLog {
 public:
  /// `epochs` are those that events have told of before, in whatever process. What cannot be
  /// written later is said in a warning, and nothing more is shown: training goes on.
  TensorBoardLog(const std::filesystem::path& folder, int64_t epochs)
      : writer_(folder), epochs_(epochs) {}

  void add(const std::string& event, const std::vector<EventField>& fields);
  /// The images of each class whose prototypes are of `step`, from 1: one row as
  /// `prototypes/CLASS`.
  void add_prototypes(const adaptation::PrototypeMemory& memory, int64_t step,
                      const std::vector<std::string>& class_names);

 private:
  void write(const std::function<void()>& values);

  TensorBoardWriter writer_;
  bool has_failed_ = false;
  int64_t epochs_;
};

}  // namespace proca::state

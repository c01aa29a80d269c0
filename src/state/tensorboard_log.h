#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/tensorboard.h"
#include "proca/adaptation/prototype_memory.h"
#include "state/event_log.h"

namespace proca::state {

/// Writes training to TensorBoard: every number of an event is a curve over epochs or steps;
/// the prototypes of each step are images.
///
/// | event         | tags                                  | over                             |
/// |---------------|---------------------------------------|----------------------------------|
/// | `epoch`       | `pretrain/loss`, ...                  | epochs of source training        |
/// | `adapt_epoch` | `adapt/loss/alignment`, ...           | epochs of adaptation, all steps' |
/// | others        | `step/seconds`, `evaluation/...`, ... | steps                            |
class TensorBoardLog {
 public:
  /// `epochs`: number of epochs logged before, in any process. If writing fails later, a
  /// warning is given and nothing more is written: training goes on.
  TensorBoardLog(const std::filesystem::path& folder, int64_t epochs)
      : writer_(folder), epochs_(epochs) {}

  void add(const std::string& event, const std::vector<EventField>& fields);
  /// Images of the prototypes captured in `step`, from 1: one row per class as
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

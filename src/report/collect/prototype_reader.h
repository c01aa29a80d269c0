#pragma once

#include "core/files/read_json.h"
#include "proca/state/state_directory.h"
#include "report/collect/detail.h"

namespace proca::report {

/// The prototypes in memory after a step, by class in the order in which the classes came.
///
/// Every step's own record has what was captured in it, so the memory of earlier steps is
/// put together from the records up to it.
class PrototypeHistory {
 public:
  PrototypeHistory(const state::StateDirectory& state, int64_t num_classes)
      : state_(state), num_classes_(num_classes) {}

  /// Steps must come in order. Null if the method keeps no prototypes.
  Json after(int64_t step, const Detail& detail);

 private:
  const state::StateDirectory& state_;
  int64_t num_classes_;
  Json classes_ = Json::array();
};

/// The memory as it is now, with pictures and soft labels.
Json current_prototypes(const state::StateDirectory& state, int64_t num_classes,
                        const Detail& detail);

}  // namespace proca::report

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Event.h>
#include <torch/types.h>

#include "proca/models/named_tensors.h"
#include "state/save_queue.h"
#include "state/state_writer.h"

namespace proca::state {

/// The changes of one commit.
struct StateChange {
  std::vector<std::pair<std::string, std::string>> texts = {};
  std::vector<std::pair<std::string, models::NamedTensors>> tensors = {};
  /// Tensors that are computed when they are written; they must not depend on anything that
  /// changes meanwhile.
  std::vector<std::pair<std::string, std::function<models::NamedTensors()>>> computed = {};
  std::vector<std::string> removed = {};
  Manifest manifest = {};
};

/// Commits changes to a state, at once or on another thread.
class StateSaver {
 public:
  /// Call `wait` before any other use of `writer`, which must outlive the saver.
  explicit StateSaver(StateWriter& writer) : writer_(writer) {}

  /// From now on `save` returns before the change is in the state.
  void save_in_background() { in_background_ = true; }
  void save(StateChange change);
  /// Waits until every change is in the state. Throws the error of one that failed.
  void wait() { queue_.wait(); }

 private:
  // Copies to the host, once `copied` has been reached.
  static void fetch(StateChange& change, torch::Device gpu, c10::Event& copied);
  void write(const StateChange& change);

  StateWriter& writer_;
  bool in_background_ = false;
  SaveQueue queue_;
};

}  // namespace proca::state

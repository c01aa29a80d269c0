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

  /// Clones the tensors, on their devices, so that training may go on with the originals.
  void copy_tensors();
};

/// Commits changes to a state, in their order.
class StateSaver {
 public:
  /// Call `wait` before any other use of `writer`, which must outlive the saver.
  explicit StateSaver(StateWriter& writer) : writer_(writer) {}

  /// Returns when the change is in the state. After `save_later` call `wait` first.
  void save_now(const StateChange& change);
  /// Returns at once, after copying the tensors; another thread writes.
  void save_later(StateChange change);
  /// Waits until every change is in the state. Throws the error of one that failed.
  void wait() { queue_.wait(); }

 private:
  // Copies to the host, once `copied` has been reached.
  static void fetch(StateChange& change, torch::Device gpu, c10::Event& copied);

  StateWriter& writer_;
  SaveQueue queue_;
};

}  // namespace proca::state

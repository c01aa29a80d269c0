#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "proca/config/options.h"
#include "proca/core/interrupt.h"

namespace proca::engine {

/// What becomes of a batch that has been adapted to.
enum class AfterStep {
  kUnsaid,
  kMove,  ///< to `WatchOptions::done`
  kKeep,  ///< stays, with a file `kDoneMark` in it
  kDelete,
};

/// Which folders are watched, when a batch in them is complete, and what becomes of it.
struct WatchOptions {
  std::filesystem::path state;
  std::filesystem::path inbox;
  std::string marker = ".complete";  ///< file that makes a sub-folder a complete batch
  /// Without a marker, too, a sub-folder or the loose images are complete when nothing has
  /// changed for so long; 0: only with a marker.
  double quiet_for_s = 0;
  int64_t min_images = 1;  ///< and when there are so many
  AfterStep after = AfterStep::kUnsaid;
  std::filesystem::path done;
  double interval_s = 5;  ///< between two looks
  bool once = false;      ///< end after what is complete now
  bool again = false;     ///< adapt to a batch with the last step's images, too
  bool discard_unfinished = false;

  /// Throws `InvalidOption`.
  void validate() const;
};

/// The time that a watcher goes by. Tests have their own.
struct WatchClock {
  std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
  std::function<void(double seconds)> wait = [](double seconds) {
    wait_unless_interrupted(seconds, "stopped watching");
  };
};

}  // namespace proca::engine

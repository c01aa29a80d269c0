#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include "core/files/read_json.h"

namespace proca::report {

/// The events of a state, as in docs/formats/report_data.md.
struct Events {
  Json losses;                    ///< null if there was no epoch of adaptation
  Json training;                  ///< of the source; null if there was no epoch
  Json machine;                   ///< null if there was no event
  std::map<int64_t, Json> steps;  ///< by number: images, seconds, peaks
};

/// Reads `events.jsonl`, which may be growing: a last line without an end is ignored. A missing
/// file has no events. Throws `InputError` naming the file or line that is damaged.
///
/// `state.json` vouches for the first `sure_bytes`, by `sure_crc` if it is of version 3. What
/// follows was written by a process that is running or was killed, and is read up to the first
/// line that is not JSON.
Events read_events(const std::filesystem::path& path, int64_t sure_bytes,
                   std::optional<uint32_t> sure_crc);

}  // namespace proca::report

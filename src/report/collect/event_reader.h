#pragma once

#include <filesystem>
#include <map>
#include <optional>

#include "report/collect/report_json.h"

namespace proca::report {

/// What the events of a state tell, in the words of docs/formats/report_data.md.
struct Events {
  Json losses;                    ///< null if there was no epoch
  Json machine;                   ///< null if there was no event
  std::map<int64_t, Json> steps;  ///< by number: images, seconds, peaks
};

/// Reads `events.jsonl`, which may be growing: a last line without an end is passed over. A
/// missing file is one without events. Throws `InputError` naming the file or line that is
/// damaged.
///
/// The first `sure_bytes` are those that the state knows of, with their CRC-32 if it is of
/// version 3; what follows is of a process that
/// is at work or was killed, and is read as far as it can be.
Events read_events(const std::filesystem::path& path, int64_t sure_bytes,
                   std::optional<uint32_t> sure_crc);

}  // namespace proca::report

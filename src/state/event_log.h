#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace proca::state {

/// A field of an event.
using EventField = std::pair<std::string, std::variant<int64_t, double, std::string>>;

/// Appends events to a JSON-lines file: one object per line, with a `time` (ISO
/// 8601, UTC), an `event` name and the given fields. A reader may follow the file
/// while it grows.
class EventLog {
 public:
  /// Keeps the first `keep_bytes` of an existing file and drops the rest: what a killed run
  /// wrote after its last checkpoint happens again when it resumes. `keep_crc` is their
  /// checksum in the checkpoint; it is trusted, so that damage is still found later. If the
  /// file has become shorter, a warning is given and what remains is kept.
  EventLog(std::filesystem::path path, int64_t keep_bytes, std::optional<uint32_t> keep_crc = {});
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void write(const std::string& event, const std::vector<EventField>& fields);
  /// Called with every event from now on, after it is in the file.
  using Observer = std::function<void(const std::string& event, const std::vector<EventField>&)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  /// Number of events with that name in the file.
  int64_t count(const std::string& event) const;
  /// Length of the file, for the next checkpoint.
  int64_t size() const { return size_; }
  /// CRC-32 of the file, for the next checkpoint.
  uint32_t crc() const { return crc_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
  uint32_t crc_ = 0;
  Observer observer_;
};

}  // namespace proca::state

#include "state/event_log.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/files/open_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"

namespace proca::state {

EventLog::EventLog(std::filesystem::path path, int64_t keep_bytes, std::optional<uint32_t> keep_crc)
    : path_(std::move(path)) {
  descriptor_ = open_for_writing(path_, Creation::kKeep);
  size_ = std::min<int64_t>(keep_bytes, ::lseek(descriptor_, 0, SEEK_END));
  if (::ftruncate(descriptor_, size_) != 0) {
    const std::string why = std::strerror(errno);
    ::close(descriptor_);
    throw Error(fmt::format("{}: cannot be shortened: {}", path_.string(), why));
  }
  if (size_ == keep_bytes && keep_crc) {
    crc_ = *keep_crc;
    return;
  }
  if (size_ < keep_bytes) {
    log_warning(fmt::format("{}: has {} bytes of {}; events are missing", path_.string(), size_,
                            keep_bytes));
  }
  crc_ = crc32(MappedFile(path_).bytes());
}

EventLog::~EventLog() { ::close(descriptor_); }

void EventLog::write(const std::string& event, const std::vector<EventField>& fields) {
  nlohmann::ordered_json line;
  line["time"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  line["event"] = event;
  for (const auto& [name, value] : fields) {
    std::visit([&, &key = name](const auto& typed) { line[key] = typed; }, value);
  }
  const auto text = line.dump() + "\n";
  write_fully(descriptor_, bytes_of(text), size_, path_);
  size_ += static_cast<int64_t>(text.size());
  crc_ = crc32(bytes_of(text), crc_);
  if (observer_) observer_(event, fields);
}

int64_t EventLog::count(const std::string& event) const {
  const MappedFile file(path_);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              std::min(file.bytes().size(), static_cast<size_t>(size_)));
  // As `write` writes it. Text within a field has its quotes escaped.
  const auto wanted = fmt::format("\"event\":\"{}\"", event);
  int64_t count = 0;
  for (auto at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

}  // namespace proca::state

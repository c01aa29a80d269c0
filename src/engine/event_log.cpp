#include "proca/engine/event_log.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"

namespace proca::engine {

EventLog::EventLog(std::filesystem::path path, int64_t keep_bytes) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw InputError(
        fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
  }
  size_ = std::min<int64_t>(keep_bytes, ::lseek(descriptor_, 0, SEEK_END));
  if (::ftruncate(descriptor_, size_) != 0) {
    const std::string why = std::strerror(errno);
    ::close(descriptor_);
    throw Error(fmt::format("{}: cannot be shortened: {}", path_.string(), why));
  }
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
  const auto length = static_cast<ssize_t>(text.size());
  if (::pwrite(descriptor_, text.data(), text.size(), size_) != length) {
    throw Error(fmt::format("{}: writing failed: {}", path_.string(), std::strerror(errno)));
  }
  size_ += length;
}

}  // namespace proca::engine

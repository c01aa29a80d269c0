#include "engine/watch/watch_journal.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/files/open_file.h"
#include "core/files/read_json.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/state_files.h"

namespace proca::engine {

namespace fs = std::filesystem;

namespace {

// Adds a line behind the first `size` bytes of a file and waits until it is on the disk.
void append_line(const fs::path& path, int64_t size, const std::string& line) {
  const int file = open_for_writing(path, Creation::kKeep);
  if (::ftruncate(file, size) != 0) {
    const std::string why = std::strerror(errno);
    ::close(file);
    throw Error(fmt::format("{}: cannot be written: {}", path.string(), why));
  }
  try {
    write_fully(file, bytes_of(line), size, path);
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
  sync_file(path);
}

}  // namespace

WatchJournal::WatchJournal(const fs::path& state)
    : file_(state / state::kWatchFile), log_(state / state::kWatchLogFile) {
  remove_leftovers(file_);
  if (!state::is_there(file_)) return;
  entry_ = reading(file_.string(), [&] {
    const auto json = parse_json(read_text_file(file_), file_.string());
    return Entry{.inbox = json.at("inbox"),
                 .batch = json.at("batch"),
                 .steps_before = whole_number(json.at("steps_before")),
                 .failures = whole_number(json.at("failures")),
                 .is_abandoned = json.at("is_abandoned"),
                 .line = json.at("line"),
                 .place = json.at("place")};
  });
}

void WatchJournal::write() const {
  const Json json{{"inbox", entry_.inbox},
                  {"batch", entry_.batch},
                  {"steps_before", entry_.steps_before},
                  {"failures", entry_.failures},
                  {"is_abandoned", entry_.is_abandoned},
                  {"line", entry_.line},
                  {"place", entry_.place}};
  write_file(file_, text_of(json, 2) + "\n");
}

void WatchJournal::begin(const std::string& inbox, const std::string& batch, int64_t steps_before) {
  entry_ = {.inbox = inbox,
            .batch = batch,
            .steps_before = steps_before,
            .is_abandoned = entry_.is_abandoned};
  write();
}

void WatchJournal::count_failure() {
  ++entry_.failures;
  write();
}

void WatchJournal::abandon_step() { entry_.is_abandoned = true; }

void WatchJournal::step_is_finished() { entry_.is_abandoned = false; }

void WatchJournal::settle(const std::string& line, const fs::path& place) {
  entry_.line = line;
  entry_.place = place.string();
  write();
}

void WatchJournal::log_line() const {
  std::string text = state::is_there(log_) ? read_text_file(log_) : "";
  // A kill may have cut the last line off, which is this one then.
  text.resize(text.rfind('\n') + 1);
  const auto line = entry_.line + "\n";
  if (text.ends_with(line)) return;
  append_line(log_, static_cast<int64_t>(text.size()), line);
}

void WatchJournal::clear() {
  entry_ = {.is_abandoned = entry_.is_abandoned};
  if (entry_.is_abandoned) {
    write();
  } else {
    remove_file(file_);
  }
}

}  // namespace proca::engine

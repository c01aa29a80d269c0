#include "engine/watch/watcher.h"

#include <algorithm>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/files/path.h"
#include "core/files/read_json.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/state/state_directory.h"
#include "state/state_files.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
using state::StateDirectory;

constexpr const char* kInboxLock = ".proca-watch.lock";
constexpr int64_t kMaxFailures = 3;

WatchOptions checked(WatchOptions options) {
  options.validate();
  StateDirectory::read_manifest(options.state);  // A folder that is none gets no lock.
  return options;
}

void add_outcome(Json& line, const StepOutcome& outcome) {
  line["step"] = outcome.step;
  line["images"] = outcome.num_images;
  if (outcome.already_done) return;  // By an earlier process, which took the rest with it.
  line["detected_classes"] = outcome.detected.size();
  line["seconds"] = outcome.seconds;
}

// What the step says of itself, where it does.
void add_verdict(Json& line, const fs::path& folder, int64_t step) {
  const auto file = state::step_file_name(step, state::kHealthFile);
  const StateDirectory state(folder, [&](const std::string& name) { return name == file; });
  if (!state.has(file)) return;
  const auto health = parse_json(state.read_text(file), file);
  for (const auto* key : {"verdict", "reason"}) {
    if (health.contains(key)) line[key] = health[key];
  }
  // Of a step that an earlier process finished the record alone knows whether it trained.
  const bool kept_previous = health.contains("kept_model") && health["kept_model"] == "previous";
  if (line.at("outcome") == "adapted" && kept_previous) line["outcome"] = "skipped";
}

// For the log of the program.
std::string sentence_of(const Json& line) {
  auto text = fmt::format("{}: ", line.at("batch").get<std::string>());
  if (line.contains("error")) {
    text += "put aside: " + line.at("error").get<std::string>();
  } else if (line.at("outcome") == "repeated") {
    text +=
        fmt::format("the same images as step {}; nothing to do", line.at("step").get<int64_t>());
  } else {
    text += fmt::format("step {}, {} images", line.at("step").get<int64_t>(),
                        line.at("images").get<int64_t>());
  }
  if (line.contains("verdict")) text += "; " + line.at("verdict").get<std::string>();
  if (line.contains("reason")) text += ": " + line.at("reason").get<std::string>();
  return text;
}

Json begin_line(const WatchClock& clock, const std::string& batch, const char* outcome) {
  const auto now = std::chrono::system_clock::to_time_t(clock.now());
  return {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
          {"batch", batch},
          {"outcome", outcome}};
}

}  // namespace

Watcher::Watcher(WatchOptions options, WatchCalls calls, WatchClock clock)
    : options_(checked(std::move(options))),
      calls_(std::move(calls)),
      clock_(std::move(clock)),
      inbox_path_(fs::absolute(normalise_path(options_.inbox)).string()),
      state_lock_(normalise_path(options_.state) / state::kWatchLockFile, "watched"),
      inbox_(options_, clock_),
      inbox_lock_(normalise_path(options_.inbox) / kInboxLock, "watched"),
      journal_(options_.state) {}

void Watcher::run() {
  take_up_journal();
  for (;;) {
    look();
    if (options_.once) return;
    clock_.wait(options_.interval_s);
  }
}

// What another watcher was doing when it ended.
void Watcher::take_up_journal() {
  inbox_.empty_trash();
  const auto entry = journal_.entry();
  if (entry.batch.empty()) return;
  const bool is_here = entry.inbox == inbox_path_;
  if (!is_here && !options_.discard_unfinished) {
    throw InputError(fmt::format(
        "{}: the batch {} of {} is not done with; watch that folder to finish it, or give "
        "--discard-unfinished to leave it there",
        options_.state.string(), entry.batch, entry.inbox));
  }
  if (is_here && !entry.line.empty()) return finish_settled();
  if (is_here && inbox_.has(entry.batch)) return;
  log_warning(fmt::format("{}: is gone, or left where it is; its step is forgotten", entry.batch));
  abandon_unfinished_step();
  journal_.clear();
}

// One look at the inbox. A batch that was begun comes first, as it may have its step already.
void Watcher::look() {
  auto batches = inbox_.complete();
  const auto begun = journal_.entry().batch;
  if (!begun.empty()) {
    std::erase(batches, begun);
    if (inbox_.has(begun)) batches.insert(batches.begin(), begun);
  }
  for (const auto& batch : batches) {
    throw_if_interrupted("stopped watching");
    if (!process(batch)) return;
  }
}

// Returns whether the next batch can follow: not while another process writes to the state.
bool Watcher::process(const std::string& batch) {
  const auto lock = options_.state / state::kLockFile;
  if (is_locked(lock) && !options_.once) {
    if (!std::exchange(is_waiting_, true)) {
      log_info(fmt::format("{}: waits, as another process writes to {}", batch,
                           options_.state.string()));
    }
    return false;
  }
  is_waiting_ = false;
  adapt_to(batch);
  return true;
}

void Watcher::adapt_to(const std::string& batch) {
  const auto before = StateDirectory::read_manifest(options_.state);
  const bool was_begun = journal_.entry().batch == batch;
  if (!was_begun) journal_.begin(inbox_path_, batch, before.step);
  const bool may_be_done = was_begun && before.step > journal_.entry().steps_before;
  const auto same_images = may_be_done      ? SameImages::kSkipAnyOptions
                           : options_.again ? SameImages::kAdaptAgain
                                            : SameImages::kSkip;
  const bool discards = options_.discard_unfinished || journal_.entry().is_abandoned;
  const auto give_up_with_step = [&](const std::string& why) {
    if (was_begun || !before.adapting) abandon_unfinished_step();  // Else it is someone else's.
    give_up(batch, why);
  };
  std::optional<Json> line;
  try {
    const auto outcome = calls_.adapt(inbox_.path(batch), same_images,
                                      discards ? Unfinished::kDiscard : Unfinished::kRefuse);
    journal_.step_is_finished();
    const bool is_repeated = outcome.already_done && !may_be_done;
    const auto* done = is_repeated ? "repeated" : outcome.trained ? "adapted" : "skipped";
    line = begin_line(clock_, batch, done);
    add_outcome(*line, outcome);
    add_verdict(*line, options_.state, outcome.step);
  } catch (const Interrupted&) {
    throw;
  } catch (const InputError&) {
    const auto problem = calls_.problem_of(inbox_.path(batch));
    if (!problem) throw;
    give_up_with_step(*problem);
  } catch (const std::exception& error) {
    journal_.count_failure();
    if (journal_.entry().failures < kMaxFailures) throw;
    give_up_with_step(error.what());
  }
  if (line) settle(std::move(*line), inbox_.place_after(batch));
}

// It gives way to that of the next batch.
void Watcher::abandon_unfinished_step() {
  if (StateDirectory::read_manifest(options_.state).adapting) journal_.abandon_step();
}

void Watcher::give_up(const std::string& batch, const std::string& why) {
  auto line = begin_line(clock_, batch, "failed");
  line["error"] = why;
  settle(std::move(line), inbox_.place_aside(batch));
}

// The batch is done with; what is left to do is in the journal.
void Watcher::settle(nlohmann::ordered_json line, const fs::path& place) {
  const bool is_told = options_.after == AfterStep::kMove || line.at("outcome") == "failed";
  if (is_told) line["moved_to"] = place.string();
  line.at("outcome") == "failed" ? log_warning(sentence_of(line)) : log_info(sentence_of(line));
  journal_.settle(text_of(line), place);
  finish_settled();
}

void Watcher::finish_settled() {
  const auto entry = journal_.entry();
  journal_.log_line();
  if (entry.place.empty()) {
    inbox_.mark_done(entry.batch, entry.line + "\n");
  } else {
    inbox_.move(entry.batch, entry.place);
  }
  journal_.clear();
  inbox_.empty_trash();
  calls_.after_batch();
}

}  // namespace proca::engine

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/watch/watcher.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "state/state_files.h"
#include "state/state_writer.h"
#include "support/temporary_folder.h"

namespace proca::engine {

namespace fs = std::filesystem;

/// Ends the waiting of a watcher that would go on for ever.
struct EndOfTest {};

/// A state and an inbox, with a clock and steps of the test's own: no image is decoded and
/// nothing is waited for.
class WatchFixture : public ::testing::Test {
 protected:
  WatchFixture() {
    fs::create_directories(inbox_);
    manifest_.phase = state::Phase::kReady;
    manifest_.model.class_names = {"a"};
    state::StateWriter writer(state_);
    writer.put_text(state::kModelFile, "a model");
    writer.commit(manifest_);
    options_.state = state_;
    options_.inbox = inbox_;
    options_.after = AfterStep::kMove;
    options_.done = folder_ / "done";
    options_.once = true;
  }

  // A batch; what its images are is in their text.
  void add(const std::string& name, const std::string& images = "") {
    write_file_in(inbox_ / name / "1.png", images.empty() ? name : images);
    write_file_in(inbox_ / name / ".complete", "");
  }
  static void write_file_in(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    write_file(path, text);
  }

  // A step as the adapter takes it: nothing for the images of the last one.
  StepOutcome adapt(const fs::path& batch, SameImages same, Unfinished unfinished) {
    const auto images = read_text_file(batch / "1.png");
    unfinished_.push_back(unfinished);
    if (images == "strange") throw std::runtime_error("the loss is no number");
    if (images == "broken" || images == "other method") throw InputError(images);
    if (steps_.empty() || steps_.back() != images || same == SameImages::kAdaptAgain) {
      steps_.push_back(images);
      set_step(static_cast<int64_t>(steps_.size()));
      return {.step = manifest_.step, .num_images = 1, .detected = {0, 1}, .seconds = 2};
    }
    return {.step = manifest_.step, .num_images = 1, .already_done = true};
  }
  void set_step(int64_t step) {
    state::StateWriter writer(state_);
    manifest_.step = step;
    manifest_.adapting.reset();
    writer.commit(manifest_);
  }
  // As a step that was cut off leaves the state.
  void leave_a_checkpoint() {
    state::StateWriter writer(state_);
    manifest_.adapting.emplace();
    writer.commit(manifest_);
  }

  WatchCalls calls() {
    return {.adapt = [this](const auto& batch, auto same,
                            auto unfinished) { return adapt(batch, same, unfinished); },
            .problem_of = [](const fs::path& batch) -> std::optional<std::string> {
              if (read_text_file(batch / "1.png") == "broken") return "1.png: is broken";
              return std::nullopt;
            },
            .after_batch = [this] { ++reports_; }};
  }
  /// One run of a watcher; what it throws ends it as a kill would.
  void watch() { Watcher(options_, calls(), clock()).run(); }
  WatchClock clock() {
    return {.now = [this] { return std::chrono::system_clock::now() + later_; },
            .wait =
                [this](double seconds) {
                  waited_.push_back(seconds);
                  if (while_waiting_.empty()) throw EndOfTest();
                  while_waiting_.front()();
                  while_waiting_.erase(while_waiting_.begin());
                }};
  }

  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(read_text_file(state_ / "watch.jsonl"));
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> outcomes;
    for (const auto& line : lines()) {
      outcomes.push_back(line.at("batch").get<std::string>() + " " +
                         line.at("outcome").get<std::string>());
    }
    return outcomes;
  }
  static std::set<std::string> shown_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& path : entries_of(folder)) {
      const auto name = path.filename().string();
      if (!name.starts_with('.')) names.insert(name);
    }
    return names;
  }
  using Names = std::set<std::string>;
  using Texts = std::vector<std::string>;

  test::TemporaryFolder folder_;
  fs::path state_ = folder_ / "state", inbox_ = folder_ / "inbox";
  state::Manifest manifest_;
  WatchOptions options_;
  Texts steps_;  // the images of each
  std::vector<Unfinished> unfinished_;
  int reports_ = 0;
  std::chrono::seconds later_{0};
  std::vector<std::function<void()>> while_waiting_;
  std::vector<double> waited_;
};

}  // namespace proca::engine

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nearest_word.h"
#include "proca/config/toml.h"
#include "proca/core/error.h"
#include "protocol/did_you_mean.h"
#include "protocol/experiment.h"
#include "protocol/experiment_words.h"

namespace proca::protocol {
namespace {

using Words = std::vector<std::string>;

// What the command says itself when it starts a run.
const std::set<std::string> kOwnOptions = {"preset", "data-root", "source",  "target",
                                           "method", "seed",      "seeds",   "source-state",
                                           "out",    "json",      "threads", "device"};

class ExperimentParser {
 public:
  ExperimentParser(const std::string& name, const std::string& origin) : origin_(origin) {
    experiment_.name = name;
  }

  Experiment run(std::string_view toml) {
    for (const auto& entry : parse_toml(toml, origin_)) read(entry);
    require(!experiment_.title.empty(), "title is missing at the top of the file");
    require(!experiment_.preset.empty(), "preset is missing at the top of the file");
    require(has_view_, "view is missing at the top of the file");
    require(!experiment_.tasks.empty(), "[tasks] names no task");
    if (experiment_.seeds.empty()) experiment_.seeds = {0};
    check_metrics();
    finish_runs();
    return std::move(experiment_);
  }

 private:
  [[noreturn]] void refuse(const TomlEntry& entry, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", origin_, entry.line, what));
  }

  void require(bool holds, const std::string& what) const {
    if (!holds) throw InputError(fmt::format("{}: {}", origin_, what));
  }

  void read(const TomlEntry& entry) {
    const std::string run_prefix = "run.";
    const auto& section = entry.section;
    if (section.empty()) {
      read_top(entry);
    } else if (section == "tasks") {
      read_task(entry);
    } else if (section == "options") {
      options_[entry.key] = checked_option(entry);
    } else if (section == "sweep") {
      read_sweep(entry);
    } else if (section.starts_with(run_prefix) && section.size() > run_prefix.size()) {
      read_run(entry, section.substr(run_prefix.size()));
    } else {
      refuse(entry, fmt::format("unknown table [{}]{}", section,
                                did_you_mean(section, {"tasks", "options", "run.LABEL", "sweep"})));
    }
  }

  void read_top(const TomlEntry& entry) {
    const Words known = {"title", "paper", "preset", "view", "metrics", "seeds"};
    if (entry.key == "title") {
      experiment_.title = single(entry);
    } else if (entry.key == "paper") {
      experiment_.paper = single(entry);
    } else if (entry.key == "preset") {
      experiment_.preset = single(entry);
    } else if (entry.key == "view") {
      experiment_.view = word(entry, single(entry), view_words());
      has_view_ = true;
    } else if (entry.key == "metrics") {
      for (const auto& text : several(entry)) {
        const auto metric = word(entry, text, metric_words());
        if (std::count(experiment_.metrics.begin(), experiment_.metrics.end(), metric) > 0) {
          refuse(entry, fmt::format("metrics names \"{}\" twice", text));
        }
        experiment_.metrics.push_back(metric);
      }
    } else if (entry.key == "seeds") {
      for (const auto& text : several(entry)) experiment_.seeds.push_back(seed(entry, text));
    } else {
      refuse(entry, fmt::format("unknown key \"{}\"{}", entry.key, did_you_mean(entry.key, known)));
    }
  }

  void read_task(const TomlEntry& entry) {
    if (several(entry).size() != 2) {
      refuse(entry, fmt::format("task \"{}\" is a list of source and target, {} given", entry.key,
                                entry.values.size()));
    }
    experiment_.tasks.push_back({entry.key, entry.values[0], entry.values[1]});
  }

  void read_run(const TomlEntry& entry, const std::string& label) {
    auto run = std::find_if(experiment_.runs.begin(), experiment_.runs.end(),
                            [&](const auto& known) { return known.label == label; });
    if (run == experiment_.runs.end()) {
      experiment_.runs.push_back({.label = label, .method = {}});
      run = std::prev(experiment_.runs.end());
    }
    if (entry.key == "method") {
      run->method = single(entry);
    } else {
      run->options[entry.key] = checked_option(entry);
    }
  }

  void read_sweep(const TomlEntry& entry) {
    if (entry.key == "method") {
      sweep_method_ = single(entry);
      return;
    }
    const auto& values = checked_option(entry);
    for (const auto& value : values) {
      sweep_.push_back({.label = fmt::format("{} = {}", entry.key, value),
                        .method = {},
                        .options = {{entry.key, {value}}}});
    }
  }

  // Tables may stand in any order, so what they say together is settled at the end.
  void finish_runs() {
    auto& runs = experiment_.runs;
    for (const auto& run : runs) {
      require(!run.method.empty(), fmt::format("[run.\"{}\"] names no method", run.label));
    }
    require(sweep_.empty() || !sweep_method_.empty(), "[sweep] names no method");
    require(!sweep_.empty() || sweep_method_.empty(), "[sweep] lists no values of an option");
    for (auto& run : sweep_) {
      run.method = sweep_method_;
      runs.push_back(std::move(run));
    }
    require(!runs.empty(), "there is neither a table [run.LABEL] nor a [sweep]");
    std::set<std::string> labels;
    for (auto& run : runs) {
      require(labels.insert(run.label).second, fmt::format("two runs are called {}", run.label));
      run.options.insert(options_.begin(), options_.end());  // a run's own win
    }
  }

  void check_metrics() {
    auto& metrics = experiment_.metrics;
    const auto allowed = metrics_of(experiment_.view);
    for (const auto metric : metrics) {
      if (std::count(allowed.begin(), allowed.end(), metric) > 0) continue;
      Words names;
      for (const auto known : allowed) names.emplace_back(name_of(known));
      require(false,
              fmt::format("view {} does not show the metric {}; it shows {}",
                          name_of(experiment_.view), name_of(metric),
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    if (metrics.empty() && !allowed.empty()) metrics = {allowed.front()};
  }

  const std::string& single(const TomlEntry& entry) const {
    if (entry.values.size() != 1) {
      refuse(entry, fmt::format("{} takes one value, {} given", entry.key, entry.values.size()));
    }
    return several(entry).front();
  }

  const Words& several(const TomlEntry& entry) const {
    if (entry.values.empty()) refuse(entry, fmt::format("{} needs at least one value", entry.key));
    for (const auto& value : entry.values) {
      if (value.empty()) refuse(entry, fmt::format("{} has an empty value", entry.key));
    }
    return entry.values;
  }

  // Names and values are checked by what uses them; only it knows the methods.
  const Words& checked_option(const TomlEntry& entry) const {
    if (kOwnOptions.contains(entry.key)) {
      refuse(entry, fmt::format("{} is no option of a single run: the experiment decides on it",
                                entry.key));
    }
    return several(entry);
  }

  template <typename T>
  T word(const TomlEntry& entry, const std::string& text,
         std::span<const NamedWord<T>> known) const {
    Words names;
    for (const auto& [name, value] : known) {
      if (name == text) return value;
      names.emplace_back(name);
    }
    refuse(entry, fmt::format("unknown {} \"{}\"{}", entry.key == "metrics" ? "metric" : entry.key,
                              text, did_you_mean(text, names)));
  }

  int64_t seed(const TomlEntry& entry, const std::string& text) const {
    int64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    if (result.ec != std::errc{} || result.ptr != end || number < 0) {
      refuse(entry, fmt::format("seeds: \"{}\" is not a whole number from 0", text));
    }
    const auto& seeds = experiment_.seeds;
    if (std::count(seeds.begin(), seeds.end(), number) > 0) {
      refuse(entry, fmt::format("seeds names {} twice", number));
    }
    return number;
  }

  const std::string& origin_;
  Experiment experiment_;
  bool has_view_ = false;
  std::map<std::string, Words> options_;
  std::string sweep_method_;
  std::vector<ExperimentRun> sweep_;
};

}  // namespace

Experiment parse_experiment(std::string_view toml, const std::string& name,
                            const std::string& origin) {
  return ExperimentParser(name, origin).run(toml);
}

}  // namespace proca::protocol

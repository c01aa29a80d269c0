#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "protocol/experiment.h"
#include "protocol/toml_reader.h"

namespace proca::protocol {
namespace {

// The words of the file.
template <typename T>
struct NamedWord {
  std::string_view name;
  T value;
};

constexpr NamedWord<TableView> kViews[] = {
    {"tasks", TableView::kTasks},
    {"steps", TableView::kSteps},
    {"task-steps", TableView::kTaskSteps},
    {"sweep", TableView::kSweep},
    {"detected-classes", TableView::kDetectedClasses},
    {"bars", TableView::kBars},
    {"drop", TableView::kDrop},
};

constexpr NamedWord<TableMetric> kMetrics[] = {
    {"final", TableMetric::kFinal},
    {"final-s1", TableMetric::kFinalS1},
    {"step-accuracy", TableMetric::kStepAccuracy},
    {"s1-accuracy", TableMetric::kS1Accuracy},
    {"pseudo-labels", TableMetric::kPseudoLabels},
    {"recall", TableMetric::kRecall},
    {"precision", TableMetric::kPrecision},
    {"drop", TableMetric::kDrop},
};

template <typename T>
std::string_view word_for(std::span<const NamedWord<T>> words, T value) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const auto& word) { return word.value == value; });
  return found->name;
}

// The metrics that a view can show; the first is what it shows when none is named.
std::vector<TableMetric> metrics_of(TableView view) {
  using enum TableMetric;
  switch (view) {
    case TableView::kTasks:
    case TableView::kSweep:
      return {kFinal, kFinalS1, kPseudoLabels, kRecall, kPrecision};
    case TableView::kSteps:
    case TableView::kTaskSteps:
      return {kStepAccuracy, kS1Accuracy};
    case TableView::kDrop:
      return {TableMetric::kDrop};
    default:
      return {};
  }
}

// Options of a run that `proca reproduce` sets itself.
const std::set<std::string> kOwnOptions = {"preset", "data-root", "source",  "target",
                                           "method", "seed",      "seeds",   "source-state",
                                           "out",    "json",      "threads", "device"};

class ExperimentParser : private TomlReader {
 public:
  ExperimentParser(const std::string& name, const std::string& origin) : TomlReader(origin) {
    experiment_.name = name;
  }

  Experiment run(std::string_view toml, const std::string& origin) {
    for (const auto& entry : parse_toml(toml, origin)) read(entry);
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
      refuse_unknown(entry, fmt::format("table [{}]", section), section,
                     {"tasks", "options", "run.LABEL", "sweep"});
    }
  }

  void read_top(const TomlEntry& entry) {
    if (entry.key == "title") {
      experiment_.title = text(entry);
    } else if (entry.key == "paper") {
      experiment_.paper = text(entry);
    } else if (entry.key == "preset") {
      experiment_.preset = text(entry);
    } else if (entry.key == "view") {
      experiment_.view = word<TableView>(entry, text(entry), kViews);
      has_view_ = true;
    } else if (entry.key == "metrics") {
      for (const auto& name : several(entry)) {
        const auto metric = word<TableMetric>(entry, name, kMetrics);
        if (std::count(experiment_.metrics.begin(), experiment_.metrics.end(), metric) > 0) {
          refuse(entry, fmt::format("metrics names \"{}\" twice", name));
        }
        experiment_.metrics.push_back(metric);
      }
    } else if (entry.key == "seeds") {
      for (const auto& value : several(entry)) experiment_.seeds.push_back(seed(entry, value));
    } else {
      refuse_unknown(entry, fmt::format("key \"{}\"", entry.key), entry.key,
                     {"title", "paper", "preset", "view", "metrics", "seeds"});
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
      run->method = text(entry);
    } else {
      run->options[entry.key] = checked_option(entry);
    }
  }

  void read_sweep(const TomlEntry& entry) {
    if (entry.key == "method") {
      sweep_method_ = text(entry);
      return;
    }
    const auto& values = checked_option(entry);
    for (const auto& value : values) {
      sweep_.push_back({.label = fmt::format("{} = {}", entry.key, value),
                        .method = {},
                        .options = {{entry.key, {value}}}});
    }
  }

  // At the end, because tables may stand in any order.
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

  const std::string& text(const TomlEntry& entry) const {
    single(entry);
    return several(entry).front();
  }

  // Names and values are checked by `experiments`, which knows the methods.
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
    const auto kind = entry.key == "metrics" ? "metric" : entry.key;
    refuse_unknown(entry, fmt::format("{} \"{}\"", kind, text), text, names);
  }

  int64_t seed(const TomlEntry& entry, const std::string& text) const {
    const auto seed = number(entry, text, 0);
    const auto& seeds = experiment_.seeds;
    if (std::count(seeds.begin(), seeds.end(), seed) > 0) {
      refuse(entry, fmt::format("seeds names {} twice", seed));
    }
    return seed;
  }

  Experiment experiment_;
  bool has_view_ = false;
  std::map<std::string, Words> options_;
  std::string sweep_method_;
  std::vector<ExperimentRun> sweep_;
};

}  // namespace

std::string_view name_of(TableView view) { return word_for<TableView>(kViews, view); }
std::string_view name_of(TableMetric metric) { return word_for<TableMetric>(kMetrics, metric); }

Experiment parse_experiment(std::string_view toml, const std::string& name,
                            const std::string& origin) {
  return ExperimentParser(name, origin).run(toml, origin);
}

}  // namespace proca::protocol

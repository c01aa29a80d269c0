#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/files/path.h"
#include "core/files/text_checksum.h"
#include "core/nearest_word.h"
#include "experiments/reproduction.h"
#include "experiments/run_identity.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/state/state_directory.h"

namespace proca::experiments {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A name that may be any text, as part of a path.
std::string as_folder(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

// Adds the label of the run to errors about its options.
template <typename Work>
auto in_run(const std::string& label, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InvalidOption(fmt::format("run \"{}\": {}", label, error.what()));
  }
}

class Planner {
 public:
  Planner(const protocol::Experiment& experiment, const ReproductionOptions& options)
      : experiment_(experiment),
        options_(options),
        preset_(protocol::find_preset(experiment.preset)),
        data_root_(absolute_path(options.data_root)),
        out_(absolute_path(options.out)) {
    preset_argument_ = experiment.preset;
    preset_folder_ = preset_.name;
    if (experiment.preset.ends_with(".toml")) {
      // The content of the file decides the results, not its name.
      preset_argument_ = absolute_path(experiment.preset).string();
      preset_folder_ =
          fmt::format("{}-{}", preset_.name, crc32_digits(read_text_file(experiment.preset)));
    }
  }

  ReproductionPlan run() {
    for (const auto& task : experiment_.tasks) {
      protocol::find_task(preset_, data_root_, task.source, task.target);
    }
    check_options();
    for (const auto& task : experiment_.tasks) {
      for (const auto& run : experiment_.runs) {
        in_run(run.label, [&] { add(task, run); });
      }
    }
    return std::move(plan_);
  }

 private:
  // An option for every run must exist, and one of the runs must have it.
  void check_options() const {
    for (const auto& [name, values] : options_.options) {
      const OptionValues option = {{name, values}};
      try {
        options_for("source-only", option);
      } catch (const InvalidOption& error) {
        throw InvalidOption(fmt::format("--set: {}", error.what()));
      }
      const auto has_option = [&](const auto& run) {
        return in_run(run.label, [&] { return !options_for(run.method, option).empty(); });
      };
      if (!std::any_of(experiment_.runs.begin(), experiment_.runs.end(), has_option)) {
        throw InvalidOption(
            fmt::format("--set: no method of these runs has an option \"{}\"", name));
      }
    }
  }

  void add(const protocol::ExperimentTask& task, const protocol::ExperimentRun& run) {
    auto values = run.options;
    if (values.contains("frozen-cache")) {
      throw InvalidOption(
          "frozen-cache belongs to the machine, not to an experiment: use --set frozen-cache=DIR");
    }
    values.merge(options_for(run.method, options_.options));  // what is there stays
    const RunChoice choice{preset_, task, run.method, values};
    auto effective = effective_options(choice);
    if (!options_.source_state.empty()) {
      effective["source-state"] = {absolute_path(options_.source_state).string()};
    }
    const auto folder = out_ / "runs" / preset_folder_ / as_folder(task.source) /
                        as_folder(task.target) / folder_name(run.method, effective);
    for (const int64_t seed : experiment_.seeds) {
      const auto own = folder / fmt::format("seed-{}", seed);
      auto [known, is_new] = by_folder_.emplace(own, plan_.runs.size());
      if (is_new) {
        auto words = command(task, run.method, seed, own);
        const auto flags = flags_of(values);
        words.insert(words.end(), flags.begin(), flags.end());
        const auto source = find_source(task, values, seed);
        words.insert(words.end(), {"--source-state", source.state.string()});
        const auto label = fmt::format("{}, {}, seed {}", task.label, run.label, seed);
        plan_.runs.push_back(planned(label, std::move(words), own, seed));
        plan_.runs.back().source = source.planned;
        plan_.runs.back().options = resolved_options(choice).text();
      }
      plan_.cells.push_back({run.label, task.label, seed, static_cast<int64_t>(known->second)});
    }
  }

  struct Source {
    fs::path state;
    std::optional<int64_t> planned = {};
  };

  // The source model of a run; its training joins the plan the first time.
  Source find_source(const protocol::ExperimentTask& task, const OptionValues& values,
                     int64_t seed) {
    if (!options_.source_state.empty()) return {given_source_state(task, seed)};
    const RunChoice choice{preset_, task, "source-only", source_options(values)};
    const auto effective = effective_options(choice);
    const auto folder = out_ / "sources" / preset_folder_ /
                        folder_name(as_folder(task.source), effective) /
                        fmt::format("seed-{}", seed);
    const auto [known, is_new] = by_folder_.emplace(folder, plan_.sources.size());
    if (is_new) {
      auto words = command(task, "source-only", seed, folder);
      const auto flags = flags_of(source_options(values));  // also what decides nothing
      words.insert(words.end(), flags.begin(), flags.end());
      const auto label = fmt::format("source {}, seed {}", task.source, seed);
      plan_.sources.push_back(planned(label, std::move(words), folder, seed));
    }
    return {folder / fmt::format("source-{}", seed), static_cast<int64_t>(known->second)};
  }

  fs::path given_source_state(const protocol::ExperimentTask& task, int64_t seed) const {
    const auto path = replace_all(replace_all(options_.source_state, "{source}", task.source),
                                  "{seed}", std::to_string(seed));
    if (!state::StateDirectory::exists(path)) {
      throw InputError(fmt::format("--source-state: {} is no state of a source model", path));
    }
    return absolute_path(path);
  }

  Words command(const protocol::ExperimentTask& task, const std::string& method, int64_t seed,
                const fs::path& folder) const {
    return {options_.program.string(),
            "run",
            "--preset",
            preset_argument_,
            "--data-root",
            data_root_.string(),
            "--source",
            task.source,
            "--target",
            task.target,
            "--method",
            method,
            "--seeds",
            std::to_string(seed),
            "--out",
            folder.string()};
  }

  PlannedRun planned(std::string label, Words words, const fs::path& folder, int64_t seed) const {
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    return {{std::move(label), std::move(words), folder / "log.txt"}, folder, seed};
  }

  const protocol::Experiment& experiment_;
  const ReproductionOptions& options_;
  protocol::Preset preset_;
  // Absolute, so that the command resumes its runs from any folder.
  fs::path data_root_, out_;
  std::string preset_argument_, preset_folder_;
  std::map<fs::path, size_t> by_folder_;
  ReproductionPlan plan_;
};

// Keeps of `items` those whose label is wanted.
template <typename Item>
void keep(std::vector<Item>& items, const Words& wanted, const std::string& flag) {
  if (wanted.empty()) return;
  Words known;
  for (const auto& item : items) known.push_back(item.label);
  for (const auto& label : wanted) {
    if (std::count(known.begin(), known.end(), label) > 0) continue;
    const auto all = fmt::format("there are {}", fmt::join(known, ", "));
    throw InvalidOption(
        fmt::format("--{}: there is no \"{}\"; {}", flag, label, did_you_mean(label, known, all)));
  }
  std::erase_if(items, [&](const auto& item) {
    return std::count(wanted.begin(), wanted.end(), item.label) == 0;
  });
}

}  // namespace

ReproductionPlan plan_reproduction(const protocol::Experiment& experiment,
                                   const ReproductionOptions& options) {
  return Planner(experiment, options).run();
}

protocol::Experiment narrowed(protocol::Experiment experiment, const Words& tasks,
                              const Words& runs) {
  keep(experiment.tasks, tasks, "tasks");
  keep(experiment.runs, runs, "runs");
  return experiment;
}

}  // namespace proca::experiments

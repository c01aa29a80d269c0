// proca reproduce: the runs of an experiment, each a `proca run` of its own, and the
// table that puts them beside the paper's.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <torch/cuda.h>

#include "commands/commands.h"
#include "commands/seeds.h"
#include "commands/write_report.h"
#include "core/parallel.h"
#include "distributed/launch.h"
#include "experiments/reproduction.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "report/tables/comparison_table.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using OptionValues = std::map<std::string, Words>;

struct ReproduceCommand {
  std::string command = "reproduce";
  Words name;
  bool list = false;
  std::string preset;
  std::string data_root;
  std::string out;
  Words seeds;
  Words tasks;
  Words runs;
  std::optional<double> budget;
  std::string weights;
  Words settings;
  std::string source_state;
  int64_t jobs = 0;
  int64_t threads = 0;
  bool no_report = false;
};

// Options that `proca reproduce` sets itself for every run.
bool is_own(const std::string& name) {
  static const Words own = {"preset",  "data-root",    "source", "target", "method",
                            "seed",    "seeds",        "out",    "json",   "budget",
                            "weights", "source-state", "threads"};
  return std::find(own.begin(), own.end(), name) != own.end();
}

// --set NAME=VALUE. The command line is split at commas: a word without = is another value of the
// option before it.
OptionValues parse_settings(const Words& words) {
  OptionValues options;
  std::string name;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals != word.npos) {
      name = word.substr(0, equals);
      if (is_own(name)) {
        throw InvalidOption(fmt::format(
            "--set: {} is set by the experiment, or by an option of proca reproduce", name));
      }
      if (name.empty() || options.contains(name)) {
        throw InvalidOption(fmt::format("--set: \"{}\" {}", word,
                                        name.empty() ? "names no option" : "sets it once more"));
      }
    } else if (name.empty()) {
      throw InvalidOption(fmt::format("--set: \"{}\" is not of the form NAME=VALUE", word));
    }
    options[name].push_back(equals == word.npos ? word : word.substr(equals + 1));
  }
  return options;
}

OptionValues passed_on(const ReproduceCommand& options) {
  auto values = parse_settings(options.settings);
  if (values.contains("tensorboard")) {
    throw InvalidOption(
        "--set tensorboard: the runs of a reproduction would all write to the same places; their "
        "events.jsonl and the report have the same curves");
  }
  if (options.budget) values["budget"] = {fmt::format("{}", *options.budget)};
  if (!options.weights.empty()) values["weights"] = {fs::absolute(options.weights).string()};
  return values;
}

// A word is a label, which may have commas, or several labels with commas between them.
template <typename Item>
Words split_labels(const Words& words, const std::vector<Item>& items) {
  Words labels;
  for (const auto& word : words) {
    if (std::any_of(items.begin(), items.end(),
                    [&](const auto& item) { return item.label == word; })) {
      labels.push_back(word);
      continue;
    }
    std::istringstream parts(word);
    for (std::string part; std::getline(parts, part, ',');) labels.push_back(part);
  }
  return labels;
}

void print_list() {
  for (const auto& experiment : protocol::all_experiments()) {
    std::cout << fmt::format("{:<34}{} ({})\n", experiment.name, experiment.title,
                             experiment.paper);
  }
}

// Deals the devices to the slots in turn, unless the user chose one.
std::vector<experiments::JobSlot> make_slots(int64_t jobs, int64_t devices,
                                             const OptionValues& options) {
  std::vector<experiments::JobSlot> slots(static_cast<size_t>(jobs));
  if (devices < 2 || options.contains("device")) return slots;
  for (int64_t i = 0; i < jobs; ++i) {
    slots[static_cast<size_t>(i)].arguments = {"--device", fmt::format("cuda:{}", i % devices)};
  }
  return slots;
}

// `whole` is the experiment with all its tasks.
report::ComparisonTable compare(const protocol::Experiment& experiment,
                                const protocol::Experiment& whole,
                                const std::vector<protocol::RunResult>& results) {
  using enum protocol::TableView;
  const auto view = experiment.view;
  const bool all_tasks = experiment.tasks.size() == whole.tasks.size();
  // The paper's means are over all tasks; those of some tasks cannot be compared with them.
  const bool only_means = view == kSteps || view == kSweep || view == kDrop;
  const bool comparable = !experiment.paper.empty() && (all_tasks || !only_means);
  const auto paper = comparable ? report::paper_numbers(experiment.name) : report::PaperNumbers();
  auto table = report::make_table(experiment, results, paper);
  if (view == kTasks && !all_tasks) {
    for (auto& block : table.blocks) {
      for (auto& row : block.rows) row.cells.back().paper.reset();
    }
  }
  return table;
}

void write_tables(const fs::path& stem, const report::ComparisonTable& table) {
  const auto write = [&](const std::string& extension, const std::string& text) {
    write_file(stem.string() + extension, text);
  };
  write(".txt", report::to_text(table));
  write(".md", report::to_markdown(table));
  write(".csv", report::to_csv(table));
  write(".tex", report::to_latex(table));
  write(".table.json", report::to_json(table));
}

// Ends the command as the job ended.
[[noreturn]] void fail(const experiments::FailedJob& job) {
  const auto message = fmt::format("{}: failed with exit code {}: {} ({})", job.label,
                                   job.exit_code, job.reason, job.log.string());
  if (job.exit_code == 2) throw InputError(message);
  if (job.exit_code == 130) throw Interrupted(message);
  throw Error(message);
}

// After a failed run there may be nothing to report, and its error is the one to show.
void report_on(const std::string& out, bool has_failed) {
  try {
    log_info(fmt::format("report: {}", write_report(out, {out}).string()));
  } catch (const std::exception& error) {
    if (!has_failed) throw;
    log_warning(fmt::format("there is no report: {}", error.what()));
  }
}

void check(const ReproduceCommand& options) {
  const auto require = [&](bool is_given, const std::string& what) {
    if (is_given) return;
    throw InvalidOption(
        fmt::format("proca {0}: {1} is missing (see proca {0} --help)", options.command, what));
  };
  const bool is_own = options.command == "experiment";
  require(!options.name.empty(), is_own ? "the file" : "the name of an experiment");
  if (is_own && !options.name.front().ends_with(".toml")) {
    throw InvalidOption(fmt::format(
        "proca experiment: \"{}\" is no file ending in .toml; proca reproduce has the paper's",
        options.name.front()));
  }
  if (options.name.size() > 1) {
    throw InvalidOption(
        fmt::format("proca {}: unexpected argument \"{}\"", options.command, options.name[1]));
  }
  require(!options.data_root.empty(), "--data-root");
  require(!options.out.empty(), "--out");
}

void reproduce(const ReproduceCommand& options) {
  if (options.list) return print_list();
  if (const auto launch = distributed::find_launch(); launch && launch->size > 1) {
    throw InputError(
        "reproduce starts its runs by itself and cannot be one of several ranks; use --jobs, or "
        "`proca run` with ranks");
  }
  check(options);
  auto whole = protocol::find_experiment(options.name.front());
  if (!options.preset.empty()) whole.preset = options.preset;
  auto experiment = experiments::narrowed(whole, split_labels(options.tasks, whole.tasks),
                                          split_labels(options.runs, whole.runs));
  if (!options.seeds.empty()) experiment.seeds = parse_seeds(options.seeds);

  const auto devices = static_cast<int64_t>(torch::cuda::device_count());
  const int64_t jobs = options.jobs > 0 ? options.jobs : std::max<int64_t>(1, devices);
  const int64_t threads =
      options.threads > 0 ? options.threads : std::max<int64_t>(1, available_cores() / jobs);
  const auto settings = passed_on(options);
  // There is one report of all runs.
  Words arguments = {"--threads", std::to_string(threads), "--no-report"};
  if (!settings.contains("frozen-cache")) {
    // Runs on the same images need the same outputs of the same source model.
    arguments.insert(arguments.end(),
                     {"--frozen-cache", (fs::absolute(options.out) / "cache").string()});
  }
  const experiments::ReproductionOptions reproduction{.program = fs::read_symlink("/proc/self/exe"),
                                                      .data_root = options.data_root,
                                                      .out = options.out,
                                                      .options = settings,
                                                      .source_state = options.source_state,
                                                      .arguments = arguments};
  const auto plan = experiments::plan_reproduction(experiment, reproduction);
  const auto outcome = experiments::perform_reproduction(
      plan, reproduction, make_slots(jobs, devices, reproduction.options));

  const auto table = compare(experiment, whole, outcome.results);
  write_tables(fs::path(options.out) / experiment.name, table);
  std::cout << report::to_text(table);
  if (!options.no_report) report_on(options.out, outcome.failure.has_value());
  if (outcome.failure) fail(*outcome.failure);
}

// What both commands have.
void bind(ReproduceCommand& options, OptionSet& set) {
  set.bind("preset", options.preset,
           "instead of the experiment's: a name, or your own version as a TOML file", "PRESET");
  set.bind("data-root", options.data_root, "folder that holds the domains of the preset", "DIR");
  set.bind("out", options.out, "folder for runs, source models and tables", "DIR");
  set.bind("seeds", options.seeds, "instead of the experiment's, such as 0,1,2", "INT");
  set.bind("tasks", options.tasks, "only these, such as \"A->W,W->A\"", "LABEL");
  set.keep_commas();
  set.bind("runs", options.runs, "only these rows of the table", "LABEL");
  set.keep_commas();
  set.bind_auto("budget", options.budget,
                "share of the iterations to do, for methods that count them; auto = all", 1e-6,
                1e3);
  set.bind("weights", options.weights, "weight file that source training starts from", "FILE");
  set.bind("set", options.settings, "an option of proca run for every run; again for the next",
           "NAME=VALUE");
  set.bind("source-state", options.source_state,
           "states of source models that exist, {source} and {seed} standing for both", "DIR");
  set.bind("jobs", options.jobs, "runs at a time; 0 = one per CUDA device, at least one", 0, 4096);
  set.bind("no-report", options.no_report, "write no report.html");
  set.bind("threads", options.threads, "of each run; 0 = cores / jobs", 0, 4096);
}

}  // namespace

Command reproduce_command() {
  return {"reproduce", "the paper's tables and figures", [](OptionSet& set) {
            const auto options = std::make_shared<ReproduceCommand>();
            set.bind_positional("name", options->name, "name of --list, or a file ending in .toml",
                                "EXPERIMENT");
            set.bind("list", options->list, "list the tables and figures");
            bind(*options, set);
            return [options] { reproduce(*options); };
          }};
}

Command experiment_command() {
  return {"experiment", "your own experiment: many runs and one table", [](OptionSet& set) {
            const auto options = std::make_shared<ReproduceCommand>();
            options->command = "experiment";
            set.bind_positional("file", options->name, "TOML file (docs/reproduce.md)",
                                "EXPERIMENT");
            bind(*options, set);
            return [options] { reproduce(*options); };
          }};
}

}  // namespace proca::app

#include <iostream>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/run_report.h"
#include "commands/seeds.h"
#include "commands/write_report.h"
#include "distributed/agreement.h"
#include "distributed/launch.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "state/rank_folder.h"

namespace proca::app {
namespace {

struct RunCommand {
  experiments::RunOptions run;
  int64_t seed = 0;
  std::vector<std::string> seeds;
  std::string out;
  bool json = false;
  bool no_report = false;
};

// The preset's values, so that a configuration that is read back means the same.
void take_preset(experiments::RunOptions& run, const OptionSet& set) {
  // Of several methods each has values of its own.
  if (run.preset.empty() || run.adapt.method.names().size() > 1) return;
  run.apply(protocol::find_preset(run.preset), set);
  const auto method = methods::MethodOptions(run.adapt.method.name()).resolve();
  for (const auto& [name, values] : run.adapt.method_defaults) {
    if (method.options->find(name) != nullptr) set.assign_default(name, values);
  }
}

// What a method came to, for files and for the terminal.
struct MethodResults {
  std::string json, text;
};

// `folder` is where models and results go.
MethodResults run_all_seeds(RunCommand& options, const protocol::Preset& preset,
                            const std::string& folder) {
  const auto& method = options.run.adapt.method;
  const auto& compute = options.run.adapt.compute;
  if (distributed::is_first(compute)) {
    for (const auto& sentence :
         method.idle_options(method.resolve(options.run.adapt.method_defaults))) {
      log_warning(sentence);
    }
  }
  const state::RankFolder out(compute.ranks, folder);
  for (const auto* file : {"run.toml", "results.json", "results.txt", "report.html"}) {
    remove_leftovers(out.path() / file);
  }
  const auto results = experiments::run_protocol(options.run, preset, out.path());
  if (!distributed::is_first(compute)) return {};
  const auto title = fmt::format("{} {} -> {}, {}", preset.name, options.run.source,
                                 options.run.target, method.name());
  MethodResults texts{results_json(options.run, results), results_text(title, results)};
  write_results(folder, texts.json, texts.text);
  return texts;
}

// Each method in a folder of its own. The first one trains the source models, or finds them.
void run_methods(RunCommand& options, const OptionSet& set, const protocol::Preset& preset) {
  const auto given = options.run;
  const auto& names = given.adapt.method.names();
  std::vector<std::filesystem::path> folders;
  std::string json;
  for (const auto& name : names) {
    options.run = given;
    options.run.adapt.method.choose_one(name);
    options.run.apply(preset, set);
    folders.push_back(std::filesystem::path(options.out) / name);
    if (folders.size() > 1 && given.source_state.empty()) {
      options.run.source_state = (folders.front() / "source-{seed}").string();
    }
    const WorkName work(name);
    const auto results = run_all_seeds(options, preset, folders.back().string());
    json += (json.empty() ? "[" : ",") + results.json;
    if (!options.json) std::cout << results.text << '\n' << std::flush;
  }
  if (options.json) std::cout << json << "]\n";
  if (options.no_report) return;
  log_info(fmt::format("report: {}", write_report(options.out, folders).string()));
}

void run(RunCommand& options, const OptionSet& set) {
  options.run.seeds =
      options.seeds.empty() ? std::vector{options.seed} : parse_seeds(options.seeds);
  const auto preset = protocol::find_preset(options.run.preset);
  std::set<std::string> names;
  for (const auto& name : options.run.adapt.method.names()) {
    methods::find_method(name);
    if (!names.insert(name).second) {
      throw InvalidOption(fmt::format("--method: {} is named twice", name));
    }
  }
  auto& compute = options.run.adapt.compute;
  distributed::join_ranks(compute);
  distributed::check_same_options(compute.ranks.get(), set);
  const bool is_first = distributed::is_first(compute);
  if (!is_first) options.run.adapt.tensorboard.clear();
  if (options.run.adapt.method.names().size() > 1) {
    if (compute.ranks != nullptr) {
      throw InvalidOption("--method: several ranks can run one method at a time");
    }
    compute::set_up_libtorch(compute);
    return run_methods(options, set, preset);
  }
  options.run.apply(preset, set);
  compute::set_up_libtorch(compute);
  const auto results = run_all_seeds(options, preset, options.out);
  if (!is_first) return;
  std::cout << (options.json ? results.json : results.text);
  if (options.no_report) return;
  log_info(fmt::format("report: {}", write_report(options.out, {options.out}).string()));
}

}  // namespace

Command run_command() {
  return {"run", "a whole protocol: train, adapt step by step, evaluate", [](OptionSet& set) {
            const auto options = std::make_shared<RunCommand>();
            set.bind("out", options->out, "folder for models and results", "DIR");
            set.require();
            options->run.bind(set);
            set.bind("seed", options->seed, "of every random choice", 0);
            set.bind("seeds", options->seeds, "several runs, such as 0,1,2", "INT");
            set.bind("json", options->json, "print JSON");
            set.bind("no-report", options->no_report, "write no report.html");
            set.complete_before_showing([options, &set] { take_preset(options->run, set); });
            return [options, &set] { run(*options, set); };
          }};
}

Command presets_command() {
  return {"presets", "list the benchmarks", [](OptionSet&) {
            return [] {
              for (const auto& preset : protocol::all_presets()) {
                std::cout << fmt::format("{:<20} {}\n", preset.name, preset.summary);
              }
            };
          }};
}

}  // namespace proca::app

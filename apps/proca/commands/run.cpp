#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/run_report.h"
#include "commands/seeds.h"
#include "commands/write_report.h"
#include "distributed/agreement.h"
#include "distributed/launch.h"
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

void run_all_seeds(RunCommand& options, const OptionSet& set) {
  options.run.seeds =
      options.seeds.empty() ? std::vector{options.seed} : parse_seeds(options.seeds);
  const auto preset = protocol::find_preset(options.run.preset);
  auto& compute = options.run.adapt.compute;
  distributed::join_ranks(compute);
  distributed::check_same_options(compute.ranks.get(), set);
  if (!distributed::is_first(compute)) options.run.adapt.tensorboard.clear();
  options.run.apply(preset, set);
  compute::set_up_libtorch(compute);
  const state::RankFolder out(compute.ranks, options.out);
  for (const auto* file : {"run.toml", "results.json", "results.txt", "report.html"}) {
    remove_leftovers(out.path() / file);
  }
  const auto results = experiments::run_protocol(options.run, preset, out.path());
  if (!distributed::is_first(compute)) return;
  const auto title = fmt::format("{} {} -> {}, {}", preset.name, options.run.source,
                                 options.run.target, options.run.adapt.method.name());
  const auto json = results_json(options.run, results);
  const auto text = results_text(title, results);
  write_results(options.out, json, text);
  std::cout << (options.json ? json : text);
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
            return [options, &set] { run_all_seeds(*options, set); };
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

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "proca/engine/launch.h"
#include "proca/engine/rank_folder.h"
#include "run_report.h"
#include "seeds.h"
#include "write_report.h"

namespace proca::app {
namespace {

struct Options {
  engine::RunOptions run;
  int64_t seed = 0;
  std::vector<std::string> seeds;
  std::string out;
  bool json = false;
  bool no_report = false;
};

void run(Options& options, const OptionSet& set) {
  options.run.seeds =
      options.seeds.empty() ? std::vector{options.seed} : parse_seeds(options.seeds);
  const auto preset = protocol::find_preset(options.run.preset);
  auto& compute = options.run.adapt.compute;
  engine::join_ranks(compute);
  if (!engine::is_first(compute)) options.run.adapt.tensorboard.clear();
  options.run.apply(preset, set);
  const engine::RankFolder out(compute.ranks, options.out);
  for (const auto* file : {"run.toml", "results.json", "results.txt", "report.html"}) {
    remove_leftovers(out.path() / file);
  }
  const auto results = engine::run_protocol(options.run, preset, out.path());
  if (!engine::is_first(compute)) return;
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
            const auto options = std::make_shared<Options>();
            set.bind("out", options->out, "folder for models and results", "DIR");
            set.require();
            options->run.bind(set);
            set.bind("seed", options->seed, "of every random choice", 0);
            set.bind("seeds", options->seeds, "several runs, such as 0,1,2", "INT");
            set.bind("json", options->json, "print JSON");
            set.bind("no-report", options->no_report, "write no report.html");
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

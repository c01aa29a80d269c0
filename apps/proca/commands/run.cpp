#include <charconv>
#include <iostream>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "commands.h"
#include "proca/core/error.h"
#include "run_report.h"

namespace proca::app {
namespace {

struct Options {
  engine::RunOptions run;
  int64_t seed = 0;
  std::vector<std::string> seeds;
  std::string out;
  bool json = false;
};

std::vector<int64_t> parse_seeds(const Options& options) {
  if (options.seeds.empty()) return {options.seed};
  std::vector<int64_t> seeds;
  std::set<int64_t> known;
  for (const auto& text : options.seeds) {
    int64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size() || seed < 0) {
      throw InvalidOption(fmt::format("--seeds: \"{}\" is not a whole number from 0", text));
    }
    if (!known.insert(seed).second) {
      throw InvalidOption(fmt::format("--seeds: {} is given twice", seed));
    }
    seeds.push_back(seed);
  }
  return seeds;
}

void run(Options& options, const OptionSet& set) {
  options.run.seeds = parse_seeds(options);
  const auto preset = protocol::find_preset(options.run.preset);
  options.run.apply(preset, set);
  const auto results = engine::run_protocol(options.run, preset, options.out);
  const auto title = fmt::format("{} {} -> {}, {}", preset.name, options.run.source,
                                 options.run.target, options.run.adapt.method.name());
  const auto json = results_json(options.run, results);
  const auto text = results_text(title, results);
  write_results(options.out, json, text);
  std::cout << (options.json ? json : text);
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

#include "experiments/run_results.h"

#include <set>
#include <sstream>

#include "config/toml.h"
#include "core/files/path.h"
#include "core/files/read_json.h"
#include "core/files/text_checksum.h"
#include "core/parse_number.h"
#include "proca/core/file.h"
#include "protocol/metrics_json.h"

namespace proca::experiments {
namespace {

namespace fs = std::filesystem;

std::string read_config(const fs::path& path) {
  auto text = read_text_file(path);
  refuse_wrong_checksum(check_toml_checksum(text), path.string());
  return text;
}

[[noreturn]] void refuse(const std::string& origin, const std::string& what) {
  throw InputError(fmt::format("{}: is damaged: {}", origin, what));
}

}  // namespace

std::optional<protocol::RunMetrics> read_results(const fs::path& folder, int64_t seed) {
  const auto path = folder / "results.json";
  if (!is_there(path)) return std::nullopt;
  return reading(path.string(), [&] {
    const auto metrics = results_of_seed(read_text_file(path), seed, path.string());
    if (metrics.is_null()) throw std::invalid_argument(fmt::format("it has no seed {}", seed));
    return protocol::run_metrics_from_json(metrics.dump(), path.string());
  });
}

Json results_of_seed(const std::string& text, int64_t seed, const std::string& origin) {
  return reading(origin, [&]() -> Json {
    refuse_wrong_checksum(check_json_checksum(text), origin);
    const auto results = parse_json(text, origin);
    for (const auto& entry : results.at("seeds")) {
      if (entry.at("seed") == seed) return entry.at("metrics");
    }
    return nullptr;
  });
}

std::string option_of(const fs::path& folder, const std::string& name) {
  const auto path = folder / "run.toml";
  for (const auto& entry : parse_toml(read_config(path), path.string())) {
    if (!entry.section.empty() || entry.key != name) continue;
    if (entry.values.size() != 1) refuse(path.string(), name + " is not one value");
    return entry.values.front();
  }
  refuse(path.string(), "it names no " + name);
}

protocol::DetectedStep detection_from_json(const std::string& text, const std::string& origin) {
  return reading(origin, [&] {
    const auto read = parse_json(text, origin);
    protocol::DetectedStep step;
    step.threshold = read.at("threshold").get<double>();
    for (const auto& entry : read.at("classes")) {
      if (entry.at("label") != step.cumulative.size()) {
        refuse(origin, fmt::format("class {} is missing", step.cumulative.size()));
      }
      step.cumulative.push_back(entry.at("cumulative_probability").get<double>());
    }
    const auto& detected = read.at("detected");
    if (!detected.is_array()) refuse(origin, "\"detected\" is no list");
    for (const auto& label : detected) {
      // Whole before all else: others may not fit into an integer.
      if (!label.is_number_integer() || label < 0 || label >= step.cumulative.size()) {
        refuse(origin, fmt::format("class {} is detected, but there is none", label.dump()));
      }
      step.detected.push_back(label.get<int64_t>());
    }
    return step;
  });
}

std::vector<std::vector<int64_t>> classes_of_steps(const std::string& run_toml,
                                                   const std::string& origin) {
  std::vector<std::vector<int64_t>> steps;
  std::istringstream lines(run_toml);
  for (std::string line; std::getline(lines, line);) {
    const auto begin = fmt::format("# step {}: classes ", steps.size() + 1);
    if (!line.starts_with(begin)) continue;
    auto& classes = steps.emplace_back();
    std::istringstream words(line.substr(begin.size()));
    for (std::string word; std::getline(words >> std::ws, word, ',');) {
      const auto label = parse_whole_number(word);
      if (!label) refuse(origin, fmt::format("\"{}\" is no class", word));
      classes.push_back(*label);
    }
  }
  return steps;
}

std::string missing_option(const fs::path& folder, const std::string& options) {
  static const std::set<std::string> places = {"preset",        "data-root",   "source",
                                               "target",        "root",        "weights",
                                               "start-weights", "source-state"};
  std::set<std::string> known;
  std::istringstream theirs(read_config(folder / "run.toml")), ours(options);
  for (std::string line; std::getline(theirs, line);) known.insert(line);
  for (std::string line; std::getline(ours, line);) {
    if (!places.contains(line.substr(0, line.find(' '))) && !known.contains(line)) return line;
  }
  return {};
}

}  // namespace proca::experiments

#include "experiments/run_results.h"

#include <charconv>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files/json_limits.h"
#include "core/files/text_checksum.h"
#include "proca/config/toml.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "protocol/metrics_json.h"

namespace proca::experiments {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_there(const fs::path& path) {
  std::error_code unreadable;  // Reading it will say why.
  return fs::exists(path, unreadable);
}

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
  try {
    const auto text = read_text_file(path);
    check_json_limits(text, path.string());
    refuse_wrong_checksum(check_json_checksum(text), path.string());
    const auto read = json::parse(text);
    for (const auto& entry : read.at("seeds")) {
      if (entry.at("seed") != seed) continue;
      return protocol::run_metrics_from_json(entry.at("metrics").dump(), path.string());
    }
  } catch (const json::exception& error) {
    refuse(path.string(), error.what());
  }
  refuse(path.string(), fmt::format("it has no seed {}", seed));
}

std::string data_root_of(const fs::path& folder) {
  const auto path = folder / "run.toml";
  for (const auto& entry : parse_toml(read_config(path), path.string())) {
    if (!entry.section.empty() || entry.key != "data-root") continue;
    if (entry.values.size() != 1) refuse(path.string(), "data-root is not one folder");
    return entry.values.front();
  }
  refuse(path.string(), "it names no data-root");
}

DetectedStep detection_from_json(const std::string& text, const std::string& origin) {
  check_json_limits(text, origin);
  try {
    const auto read = json::parse(text);
    DetectedStep step;
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
  } catch (const json::exception& error) {
    refuse(origin, error.what());
  }
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
      int64_t label = 0;
      const auto* end = word.data() + word.size();
      const auto result = std::from_chars(word.data(), end, label);
      if (result.ec != std::errc{} || result.ptr != end || label < 0) {
        refuse(origin, fmt::format("\"{}\" is no class", word));
      }
      classes.push_back(label);
    }
  }
  return steps;
}

std::string missing_option(const fs::path& folder, const std::string& options) {
  static const std::set<std::string> places = {"preset",        "data-root",   "source",
                                               "target",        "root",        "weights",
                                               "start-weights", "source-state"};
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  };
  const auto theirs = lines_of(read_config(folder / "run.toml"));
  const std::set<std::string> known(theirs.begin(), theirs.end());
  for (const auto& line : lines_of(options)) {
    if (places.contains(line.substr(0, line.find(' ')))) continue;
    if (!known.contains(line)) return line;
  }
  return {};
}

}  // namespace proca::experiments

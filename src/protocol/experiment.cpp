#include "protocol/experiment.h"

#include <fmt/format.h>

#include "protocol/embedded_files.h"

namespace proca::protocol {
namespace {

// The files are called 01-final-office-home and so on, in the order of the paper.
std::string name_of_file(std::string_view file) {
  return std::string(file.substr(file.find('-') + 1));
}

}  // namespace

const std::vector<Experiment>& all_experiments() {
  static const auto experiments = [] {
    std::vector<Experiment> parsed;
    for (const auto& file : embedded_experiments()) {
      parsed.push_back(parse_experiment(file.text, name_of_file(file.name),
                                        fmt::format("experiments/{}.toml", file.name)));
    }
    return parsed;
  }();
  return experiments;
}

Experiment find_experiment(const std::string& name_or_file) {
  if (!is_own_file(name_or_file)) {
    return find_by_name("experiment", name_or_file, all_experiments(),
                        "see proca reproduce --list, or give a file ending in .toml");
  }
  auto experiment = parse_file(name_or_file, parse_experiment);
  // A path of a preset is relative to the experiment's file, not to the working directory.
  if (is_own_file(experiment.preset)) {
    const auto folder = std::filesystem::path(name_or_file).parent_path();
    experiment.preset = (folder / experiment.preset).string();
  }
  return experiment;
}

}  // namespace proca::protocol

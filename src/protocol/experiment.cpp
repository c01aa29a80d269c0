#include "protocol/experiment.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nearest_word.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
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
  if (name_or_file.ends_with(".toml")) {
    const std::filesystem::path file(name_or_file);
    auto experiment = parse_experiment(read_text_file(file), file.stem().string(), name_or_file);
    // A preset of one's own lies beside the experiment, wherever the program is started.
    if (experiment.preset.ends_with(".toml")) {
      experiment.preset = (file.parent_path() / experiment.preset).string();
    }
    return experiment;
  }
  std::vector<std::string> known;
  for (const auto& experiment : all_experiments()) {
    if (experiment.name == name_or_file) return experiment;
    known.push_back(experiment.name);
  }
  const auto nearest = nearest_word(name_or_file, known);
  throw InvalidOption(fmt::format("unknown experiment \"{}\"; {}", name_or_file,
                                  nearest.empty()
                                      ? "see proca reproduce --list, or give a file ending in .toml"
                                      : "did you mean \"" + nearest + "\"?"));
}

}  // namespace proca::protocol

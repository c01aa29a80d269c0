#include "shell/value_hints.h"

#include <algorithm>

#include <torch/types.h>

#include "proca/methods/method.h"
#include "proca/models/backbone.h"
#include "protocol/experiment.h"
#include "protocol/preset.h"

namespace proca::app {
namespace {

using Paths = ValueHints::Paths;

template <typename Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

// `auto|INT` offers `auto`: what is in capitals is a kind of value, not one.
std::vector<std::string> choices(const std::string& type) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= type.size();) {
    const auto end = std::min(type.find('|', begin), type.size());
    const auto word = type.substr(begin, end - begin);
    if (std::none_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
      words.push_back(word);
    }
    begin = end + 1;
  }
  return words;
}

}  // namespace

ValueHints value_hints(const Option& option) {
  if (option.shape == Option::Shape::kSwitch) return {};
  if (option.type == "DIR") return {{}, Paths::kFolders};
  if (option.type == "FILE" || option.type == "PATH") return {{}, Paths::kFiles};
  if (option.type == "METHOD") return {names_of(methods::all_methods()), Paths::kNone};
  if (option.type == "BACKBONE") return {models::backbone_names(), Paths::kNone};
  if (option.type == "PRESET") return {names_of(protocol::all_presets()), Paths::kFiles};
  if (option.type == "EXPERIMENT") return {names_of(protocol::all_experiments()), Paths::kFiles};
  return {choices(option.type), Paths::kNone};
}

}  // namespace proca::app

#include "protocol/preset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "protocol/embedded_files.h"

namespace proca::protocol {

const std::vector<Preset>& all_presets() {
  static const auto presets = [] {
    std::vector<Preset> parsed;
    for (const auto& file : embedded_presets()) {
      const std::string name(file.name);
      parsed.push_back(parse_preset(file.text, name, fmt::format("presets/{}.toml", name)));
    }
    return parsed;
  }();
  return presets;
}

Preset find_preset(const std::string& name_or_file) {
  if (is_own_file(name_or_file)) return parse_file(name_or_file, parse_preset);
  std::vector<std::string> names;
  for (const auto& preset : all_presets()) names.push_back(preset.name);
  return find_by_name(
      "preset", name_or_file, all_presets(),
      fmt::format("there are {}, or a file ending in .toml", fmt::join(names, ", ")));
}

std::vector<std::string> method_tables(const Preset& preset, const std::string& method,
                                       const std::string& source, const std::string& target) {
  std::vector<std::string> names = {method};
  const std::string suffix = "-prototypes";
  if (method.ends_with(suffix)) {
    names.insert(names.begin(), method.substr(0, method.size() - suffix.size()));
  }
  std::vector<std::string> tables;
  for (const auto& name : names) {
    const auto table = "for." + name;
    for (const auto& candidate : {table, table + "." + source, table + ".*." + target,
                                  table + "." + source + "." + target}) {
      if (preset.settings.contains(candidate)) tables.push_back(candidate);
    }
  }
  return tables;
}

}  // namespace proca::protocol

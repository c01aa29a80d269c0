#include "protocol/preset.h"

namespace proca::protocol {

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

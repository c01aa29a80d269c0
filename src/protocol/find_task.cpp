#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/files/path.h"
#include "core/nearest_word.h"
#include "proca/core/error.h"
#include "protocol/preset.h"

namespace proca::protocol {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// The first place that exists, or an empty path.
fs::path first_of(const Words& places, const fs::path& data_root) {
  for (const auto& place : places) {
    if (is_there(data_root / place)) return data_root / place;
  }
  return {};
}

struct Role {
  std::string_view name;  // "source" or "target"
  const std::map<std::string, Words>& domains;
};

// Where the images of a domain may lie.
Words places_of(const Role& role, const std::string& domain) {
  const auto known = role.domains.find(domain);
  if (known != role.domains.end()) return known->second;
  return {domain, domain + ".txt", domain + ".pack"};
}

void check_root(const fs::path& data_root) {
  if (is_there(data_root)) return;
  throw InputError(fmt::format("--data-root: {} does not exist", data_root.string()));
}

fs::path find_domain(const Preset& preset, const Role& role, const fs::path& data_root,
                     const std::string& domain) {
  if (domain.empty()) throw InvalidOption(fmt::format("--{}: names no domain", role.name));
  const bool is_known = role.domains.contains(domain);
  const auto places = places_of(role, domain);
  const auto found = first_of(places, data_root);
  if (!found.empty()) return found;
  if (is_known || role.domains.empty()) {
    Words shown;
    for (const auto& place : places) shown.push_back((data_root / place).string());
    throw InputError(
        fmt::format("the images of {} \"{}\" of preset {} are not there: looked for {}", role.name,
                    domain, preset.name, fmt::join(shown, ", ")));
  }
  Words names;
  for (const auto& [name, ignored] : role.domains) names.push_back(name);
  throw InvalidOption(
      fmt::format("--{}: preset {} knows no domain \"{}\", nor does {} hold one of that name; {}",
                  role.name, preset.name, domain, data_root.string(),
                  did_you_mean(domain, names, fmt::format("it knows {}", fmt::join(names, ", ")))));
}

}  // namespace

TaskPaths find_task(const Preset& preset, const fs::path& data_root, const std::string& source,
                    const std::string& target) {
  check_root(data_root);
  return {find_domain(preset, {"source", preset.sources}, data_root, source),
          find_domain(preset, {"target", preset.targets}, data_root, target)};
}

fs::path find_target(const Preset& preset, const fs::path& data_root, const std::string& target) {
  check_root(data_root);
  return find_domain(preset, {"target", preset.targets}, data_root, target);
}

bool has_source(const Preset& preset, const fs::path& data_root, const std::string& source) {
  return !first_of(places_of({"source", preset.sources}, source), data_root).empty();
}

}  // namespace proca::protocol

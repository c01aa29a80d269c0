#include "protocol/preset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nearest_word.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
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
  if (name_or_file.ends_with(".toml")) {
    const std::filesystem::path file(name_or_file);
    return parse_preset(read_text_file(file), file.stem().string(), name_or_file);
  }
  std::vector<std::string> known;
  for (const auto& preset : all_presets()) {
    if (preset.name == name_or_file) return preset;
    known.push_back(preset.name);
  }
  const auto nearest = nearest_word(name_or_file, known);
  throw InvalidOption(fmt::format("unknown preset \"{}\"; {}", name_or_file,
                                  nearest.empty() ? fmt::format("there are {}, or a file ending "
                                                                "in .toml",
                                                                fmt::join(known, ", "))
                                                  : "did you mean \"" + nearest + "\"?"));
}

}  // namespace proca::protocol

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/embedded_file.h"
#include "core/nearest_word.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {

/// The files of `presets/` and of `experiments/`, by name.
std::span<const EmbeddedFile> embedded_presets();
std::span<const EmbeddedFile> embedded_experiments();

namespace protocol {

/// Whether the user named a file of his own, and not one of the program's.
inline bool is_own_file(const std::string& name_or_file) { return name_or_file.ends_with(".toml"); }

/// What `parse(text, name, origin)` makes of a TOML file; its name is that of the file.
template <typename Parse>
auto parse_file(const std::filesystem::path& file, const Parse& parse) {
  return parse(read_text_file(file), file.stem().string(), file.string());
}

/// The item of this name. Throws `InvalidOption` with the nearest name, or what to do `otherwise`.
template <typename Item>
const Item& find_by_name(std::string_view kind, const std::string& name,
                         const std::vector<Item>& items, const std::string& otherwise) {
  std::vector<std::string> known;
  for (const auto& item : items) {
    if (item.name == name) return item;
    known.push_back(item.name);
  }
  throw InvalidOption("unknown " + std::string(kind) + " \"" + name + "\"; " +
                      did_you_mean(name, known, otherwise));
}

}  // namespace protocol
}  // namespace proca

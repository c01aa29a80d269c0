#pragma once

#include <span>
#include <string_view>

namespace proca::protocol {

/// A file of `presets/` as it was when the library was built.
struct EmbeddedPreset {
  std::string_view name;  ///< of the file, without `.toml`
  std::string_view toml;
};

/// All of them, by name.
std::span<const EmbeddedPreset> embedded_presets();

}  // namespace proca::protocol

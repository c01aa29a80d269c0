#pragma once

#include <span>
#include <string_view>

namespace proca {

/// A file of the source tree whose text is part of the library, as it was when the
/// library was built. `proca_embed_files` (cmake/ProcaEmbed.cmake) makes a table of a
/// whole folder of them.
struct EmbeddedFile {
  std::string_view name;  ///< of the file, without extension
  std::string_view text;
};

}  // namespace proca

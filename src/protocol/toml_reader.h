#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/toml.h"

namespace proca::protocol {

/// What the parsers of presets and experiments share: the values of an entry, and errors that
/// name the file and the line. All throw `InputError`.
class TomlReader {
 protected:
  using Words = std::vector<std::string>;

  /// `origin` must outlive the reader.
  explicit TomlReader(const std::string& origin) : origin_(origin) {}

  [[noreturn]] void refuse(const TomlEntry& entry, const std::string& what) const;
  /// `what` is unknown: `key "titel"`. Adds the nearest known word, or all of them.
  [[noreturn]] void refuse_unknown(const TomlEntry& entry, const std::string& what,
                                   const std::string& word, const Words& known) const;
  /// About the whole file.
  void require(bool holds, const std::string& what) const;

  const std::string& single(const TomlEntry& entry) const;
  /// One or more values, none of them empty.
  const Words& several(const TomlEntry& entry) const;
  int64_t number(const TomlEntry& entry, const std::string& text, int64_t least) const;

 private:
  const std::string& origin_;
};

}  // namespace proca::protocol

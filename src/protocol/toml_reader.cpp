#include "protocol/toml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nearest_word.h"
#include "core/parse_number.h"
#include "proca/core/error.h"

namespace proca::protocol {

void TomlReader::refuse(const TomlEntry& entry, const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", origin_, entry.line, what));
}

void TomlReader::refuse_unknown(const TomlEntry& entry, const std::string& what,
                                const std::string& word, const Words& known) const {
  const auto expected = fmt::format("expected one of {}", fmt::join(known, ", "));
  refuse(entry, fmt::format("unknown {}; {}", what, did_you_mean(word, known, expected)));
}

void TomlReader::require(bool holds, const std::string& what) const {
  if (!holds) throw InputError(fmt::format("{}: {}", origin_, what));
}

const std::string& TomlReader::single(const TomlEntry& entry) const {
  if (entry.values.size() != 1) {
    refuse(entry, fmt::format("{} takes one value, {} given", entry.key, entry.values.size()));
  }
  return entry.values.front();
}

const TomlReader::Words& TomlReader::several(const TomlEntry& entry) const {
  if (entry.values.empty()) refuse(entry, fmt::format("{} needs at least one value", entry.key));
  for (const auto& value : entry.values) {
    if (value.empty()) refuse(entry, fmt::format("{} has an empty value", entry.key));
  }
  return entry.values;
}

int64_t TomlReader::number(const TomlEntry& entry, const std::string& text, int64_t least) const {
  const auto number = parse_whole_number(text, least);
  if (!number) {
    refuse(entry, fmt::format("{}: \"{}\" is not a whole number from {}", entry.key, text, least));
  }
  return *number;
}

}  // namespace proca::protocol

#include "proca/config/toml.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "config/toml_statements.h"
#include "proca/core/error.h"

namespace proca {
namespace {

bool is_bare_key(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

// The words of `a.b."c d"`, without their quotes.
std::vector<std::string> dotted_words(std::string_view text, const TomlStatement& statement,
                                      const std::string& origin, const TomlLimits& limits) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('.', begin), text.size());
    const auto word = trim_blanks(text.substr(begin, end - begin));
    if (!is_quoted(word) && !is_bare_key(word)) {
      refuse_toml(origin, statement.line,
                  "a name consists of letters, digits, - and _, or stands in quotes");
    }
    if (static_cast<int64_t>(words.size()) == limits.max_name_words) {
      refuse_toml(origin, statement.line,
                  fmt::format("a name has more than {} words", limits.max_name_words));
    }
    words.push_back(is_quoted(word) ? restore(word, statement) : std::string(word));
    begin = end + 1;
  }
  return words;
}

// The text of a value as std::from_chars reads it: TOML allows 1_000 and +5.
std::string value_text(std::string_view word, const TomlStatement& statement,
                       const std::string& origin) {
  word = trim_blanks(word);
  if (is_quoted(word)) return restore(word, statement);
  if (word == "true" || word == "false") return std::string(word);
  std::string number(word);
  std::erase(number, '_');
  if (number.size() > 1 && number[0] == '+' && number[1] != '-') number.erase(0, 1);
  double ignored = 0;
  const auto* end = number.data() + number.size();
  const auto result = std::from_chars(number.data(), end, ignored);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) {
    refuse_toml(
        origin, statement.line,
        word.empty() || word.find('\x01') != std::string_view::npos
            ? "an element is missing, or the comma between two"
            : fmt::format("{} is neither a string in quotes nor a number, true or false", word));
  }
  return number;
}

std::string table_name(const TomlStatement& statement, const std::string& origin,
                       const TomlLimits& limits) {
  const auto inside = std::string_view(statement.text).substr(1, statement.text.size() - 2);
  return fmt::format("{}", fmt::join(dotted_words(inside, statement, origin, limits), "."));
}

// CLI11 gets one statement at a time: it tells no line numbers, and joins the values
// of a key that occurs twice.
std::vector<std::string> read_values(const TomlStatement& statement, const std::string& origin,
                                     const TomlLimits& limits) {
  std::istringstream stream(statement.text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(stream);
  } catch (const CLI::Error& error) {
    refuse_toml(origin, statement.line, error.what());
  }
  if (items.size() != 1) {
    refuse_toml(origin, statement.line, "expected a line of the form key = value");
  }
  const auto& inputs = items.front().inputs;
  if (!statement.text.ends_with(']') && inputs.size() != 1) {
    refuse_toml(origin, statement.line, "several values stand in brackets: [1, 2]");
  }
  std::vector<std::string> values;
  for (const auto& input : inputs) values.push_back(value_text(input, statement, origin));
  if (static_cast<int64_t>(values.size()) > limits.max_elements) {
    refuse_toml(origin, statement.line,
                fmt::format("the array has more than {} elements", limits.max_elements));
  }
  return values;
}

TomlEntry read_entry(const TomlStatement& statement, const std::string& table,
                     const std::string& origin, const TomlLimits& limits) {
  const auto name = std::string_view(statement.text).substr(0, statement.text.find('='));
  auto words = dotted_words(name, statement, origin, limits);
  TomlEntry entry;
  entry.key = std::move(words.back());
  words.pop_back();
  if (!table.empty()) words.insert(words.begin(), table);
  entry.section = fmt::format("{}", fmt::join(words, "."));
  entry.values = read_values(statement, origin, limits);
  entry.line = statement.line;
  return entry;
}

}  // namespace

std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& origin,
                                  const TomlLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.max_bytes) {
    throw InputError(fmt::format("{}: has {} bytes; a TOML file may have {}", origin, text.size(),
                                 limits.max_bytes));
  }
  std::vector<TomlEntry> entries;
  std::map<std::string, int64_t> seen;  // tables as "[a.b]", keys as "a.b.key" -> line
  const auto refuse_second = [&](const std::string& what, int64_t line) {
    const auto [first, is_new] = seen.emplace(what, line);
    if (is_new) return;
    refuse_toml(origin, line, fmt::format("{} stands on line {} already", what, first->second));
  };
  std::string table;
  for (const auto& statement : split_toml(text, origin, limits)) {
    if (statement.is_table()) {
      table = table_name(statement, origin, limits);
      refuse_second("[" + table + "]", statement.line);
      continue;
    }
    entries.push_back(read_entry(statement, table, origin, limits));
    const auto& entry = entries.back();
    refuse_second(entry.section.empty() ? entry.key : entry.section + "." + entry.key, entry.line);
  }
  return entries;
}

}  // namespace proca

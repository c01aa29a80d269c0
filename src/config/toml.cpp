#include "config/toml.h"

#include <algorithm>

#include <fmt/format.h>

#include "proca/core/error.h"

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace proca {
namespace {

[[noreturn]] void refuse_toml(const std::string& origin, int64_t line, std::string_view reason) {
  throw InputError(fmt::format("{}:{}: is not valid TOML: {}", origin, line, reason));
}

// A value and its name. A table of toml++ is sorted by key.
struct NamedValue {
  std::string section, key;
  const toml::node* node = nullptr;

  bool operator<(const NamedValue& other) const {
    return node->source().begin < other.node->source().begin;
  }
};

// Makes entries of the values, which come in the order of the document.
class EntryReader {
 public:
  EntryReader(std::string_view text, const std::string& origin, const TomlLimits& limits)
      : text_(text), origin_(origin), limits_(limits) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  TomlEntry read(const NamedValue& value) {
    const auto& node = *value.node;
    TomlEntry entry{value.section, value.key, {}, line_of(node)};
    if (const auto* array = node.as_array()) {
      if (static_cast<int64_t>(array->size()) > limits_.max_elements) {
        refuse(node, fmt::format("the array has more than {} elements", limits_.max_elements));
      }
      for (const auto& element : *array) entry.values.push_back(text_of(element));
    } else {
      entry.values.push_back(text_of(node));
    }
    return entry;
  }

 private:
  static int64_t line_of(const toml::node& node) { return node.source().begin.line; }
  [[noreturn]] void refuse(const toml::node& node, std::string_view reason) const {
    refuse_toml(origin_, line_of(node), reason);
  }

  std::string text_of(const toml::node& node) {
    switch (node.type()) {
      case toml::node_type::string:
        if (static_cast<int64_t>(node.as_string()->get().size()) > limits_.max_string_bytes) {
          refuse(node, fmt::format("the string has {} bytes; {} are allowed",
                                   node.as_string()->get().size(), limits_.max_string_bytes));
        }
        return node.as_string()->get();
      case toml::node_type::integer:
        return std::to_string(node.as_integer()->get());
      case toml::node_type::floating_point:
        return float_at(node.source().begin);
      case toml::node_type::boolean:
        return node.as_boolean()->get() ? "true" : "false";
      case toml::node_type::array:
      case toml::node_type::table:
        refuse(node, "arrays of arrays or tables are not supported");
      default:
        refuse(node, "dates and times are not supported");
    }
  }

  // As it was written, but for what std::from_chars does not read: 1_000.5 and +5.0.
  std::string float_at(const toml::source_position& place) {
    while (place_ < place && at_ < text_.size()) {
      place_ = text_[at_] == '\n' ? toml::source_position{place_.line + 1, 1}
                                  : toml::source_position{place_.line, place_.column + 1};
      do ++at_;  // A column is a character of UTF-8.
      while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xc0) == 0x80);
    }
    std::string number(text_.substr(at_, text_.find_first_of(",]} \t\r\n#", at_) - at_));
    std::erase(number, '_');
    if (number.starts_with('+')) number.erase(0, 1);
    return number;
  }

  std::string_view text_;
  const std::string& origin_;
  const TomlLimits& limits_;
  size_t at_ = 0;
  toml::source_position place_{1, 1};  // of at_
};

void collect(const toml::table& table, const std::string& section, int64_t num_words,
             const std::string& origin, const TomlLimits& limits, std::vector<NamedValue>& values) {
  for (const auto& [key, node] : table) {
    if (num_words == limits.max_name_words) {
      refuse_toml(origin, node.source().begin.line,
                  fmt::format("a name has more than {} words", limits.max_name_words));
    }
    std::string name(key.str());
    if (const auto* inner = node.as_table()) {
      collect(*inner, section.empty() ? name : section + "." + name, num_words + 1, origin, limits,
              values);
    } else {
      values.push_back({section, std::move(name), &node});
    }
  }
}

void check_size(std::string_view text, const std::string& origin, const TomlLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.max_bytes) {
    throw InputError(fmt::format("{}: has {} bytes; a TOML file may have {}", origin, text.size(),
                                 limits.max_bytes));
  }
  // toml++ destroys nested tables recursively and does not limit how deep a.b.c nests. Dots in
  // strings do not nest; where strings may span lines all dots count.
  const bool spans_lines = text.find("\"\"\"") != text.npos || text.find("'''") != text.npos;
  int64_t dots = 0, line = 1;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      dots = quote = 0;
      ++line;
    } else if (quote == '"' && c == '\\') {
      ++i;  // the escaped character
    } else if (!spans_lines && (quote != 0 ? c == quote : c == '"' || c == '\'')) {
      quote = quote != 0 ? 0 : c;
    } else if (c == '.' && quote == 0 && ++dots > limits.max_line_dots) {
      refuse_toml(origin, line,
                  fmt::format("the line has more than {} dots", limits.max_line_dots));
    }
  }
}

// A value and a table of the same name are an error in TOML, but the program's own files have
// them: `method = "proca"` and `[method]`. Such a table is read as `["".method]`.
toml::table parse_document(std::string& text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    size_t header = 0;
    for (int64_t line = 1; line < error.source().begin.line; ++line) {
      header = text.find('\n', header) + 1;
    }
    header = text.find_first_not_of(" \t", header);
    if (header == text.npos || text[header] != '[' || text.substr(header, 2) == "[[") throw;
    text.insert(header + 1, "\"\".");
    auto document = toml::parse(text);
    const auto* aside = document[""].as_table();
    if (aside == nullptr) throw;
    for (const auto& [name, table] : *aside) {
      const auto* value = document.get(name.str());
      if (value == nullptr || value->is_table()) throw;
    }
    return document;
  }
}

}  // namespace

std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& origin,
                                  const TomlLimits& limits) {
  check_size(text, origin, limits);
  try {
    std::string read(text);
    const auto document = parse_document(read);
    std::vector<NamedValue> values;
    collect(document, "", 0, origin, limits, values);
    std::sort(values.begin(), values.end());
    EntryReader reader(read, origin, limits);
    std::vector<TomlEntry> entries;
    for (const auto& value : values) entries.push_back(reader.read(value));
    return entries;
  } catch (const toml::parse_error& error) {
    refuse_toml(origin, error.source().begin.line, error.description());
  }
}

}  // namespace proca

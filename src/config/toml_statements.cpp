#include "config/toml_statements.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca {
namespace {

// Cannot stand in a TOML document itself.
constexpr char kMark = '\x01';
constexpr char kMarkEnd = '\x02';  // A digit may follow the closing quote.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_control(char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; }

std::string utf8(uint32_t code) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& origin, const TomlLimits& limits)
      : text_(text), origin_(origin), limits_(limits) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  std::vector<TomlStatement> run() {
    for (; place_ < text_.size(); ++place_) {
      const char c = text_[place_];
      if (c == '\n') {
        end_line();
      } else if (c == '#') {
        // A line break ends the comment, and perhaps the statement.
        place_ = std::min(text_.find('\n', place_), text_.size()) - 1;
      } else if (c == '"' || c == '\'') {
        add(kMark + std::to_string(current_.strings.size()) + kMarkEnd);
        current_.strings.push_back(c == '"' ? basic_string() : literal_string());
        if (static_cast<int64_t>(current_.strings.back().size()) > limits_.max_string_bytes) {
          refuse(fmt::format("the string has {} bytes; {} are allowed",
                             current_.strings.back().size(), limits_.max_string_bytes));
        }
      } else if (c != '\r' || !text_.substr(place_).starts_with("\r\n")) {
        if (is_control(c)) refuse("a control character");
        count_brackets(c);
        add(std::string(1, c));
      }
    }
    if (in_array_) refuse_toml(origin_, current_.line, "the array has no closing bracket");
    end_line();
    return std::move(statements_);
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) { refuse_toml(origin_, line_, reason); }

  void add(const std::string& piece) {
    if (current_.line == 0 && !trim_blanks(piece).empty()) current_.line = line_;
    current_.text += piece;
  }

  void count_brackets(char c) {
    if (current_.is_table()) return;
    if (in_array_ && c == '[') refuse("arrays in arrays are not supported");
    // The next key, so the array above it was left open.
    if (in_array_ && c == '=') {
      refuse_toml(origin_, current_.line, "the array has no closing bracket");
    }
    if (c == '[') {
      in_array_ = current_.line != 0;
      num_commas_ = 0;
    }
    if (c == ']') in_array_ = false;
    if (in_array_ && c == ',' && ++num_commas_ > limits_.max_elements) {
      refuse(fmt::format("the array has more than {} elements", limits_.max_elements));
    }
  }

  void end_line() {
    ++line_;
    if (in_array_) {
      current_.text += ' ';
      return;
    }
    current_.text = trim_blanks(current_.text);
    if (!current_.text.empty()) {
      check(current_);
      statements_.push_back(std::move(current_));
    }
    current_ = {};
  }

  void check(const TomlStatement& statement) const {
    const std::string_view text = statement.text;
    const auto line = statement.line;
    if (statement.is_table()) {
      if (text.starts_with("[[")) refuse_toml(origin_, line, "arrays of tables are not supported");
      if (text.find(']') != text.size() - 1) {
        refuse_toml(origin_, line, "a table's header has the form [name]");
      }
      return;
    }
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) {
      refuse_toml(origin_, line, "expected a line of the form key = value");
    }
    const auto value = trim_blanks(text.substr(equals + 1));
    if (value.empty()) refuse_toml(origin_, line, "the value is missing");
    const bool is_array = value.starts_with('[');
    const auto inside = is_array ? value.substr(1, value.size() - 2) : value;
    if ((is_array && !value.ends_with(']')) || inside.find_first_of("[]=") != inside.npos) {
      refuse_toml(origin_, line, "the value is followed by something else");
    }
  }

  std::string literal_string() {
    refuse_long_string("'''");
    const auto begin = place_ + 1;
    const auto end = text_.find_first_of("'\n", begin);
    if (end == std::string_view::npos || text_[end] == '\n') refuse_open_string();
    place_ = end;
    return std::string(text_.substr(begin, end - begin));
  }

  std::string basic_string() {
    refuse_long_string("\"\"\"");
    std::string content;
    for (++place_; place_ < text_.size() && text_[place_] != '\n'; ++place_) {
      const char c = text_[place_];
      if (c == '"') return content;
      if (is_control(c)) refuse("a control character in a string");
      if (c == '\\') {
        content += escape();
      } else {
        content += c;
      }
    }
    refuse_open_string();
  }

  // Leaves `place_` on the last character of the escape.
  std::string escape() {
    constexpr std::string_view kLetters = "\"\\ntrbf";
    constexpr std::string_view kMeanings = "\"\\\n\t\r\b\f";
    if (++place_ == text_.size()) refuse_open_string();
    const char letter = text_[place_];
    const auto known = kLetters.find(letter);
    if (known != std::string_view::npos) return {kMeanings[known]};
    if (letter != 'u' && letter != 'U') refuse(fmt::format("unknown escape \\{}", letter));
    const auto digits = text_.substr(place_ + 1, letter == 'u' ? 4 : 8);
    uint32_t code = 0;
    const auto* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, code, 16);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (digits.size() != (letter == 'u' ? 4u : 8u) || result.ec != std::errc{} ||
        result.ptr != end || surrogate || code > 0x10ffff) {
      refuse(fmt::format("\\{} without the number of a character", letter));
    }
    place_ += digits.size();
    return utf8(code);
  }

  void refuse_long_string(std::string_view quotes) {
    if (text_.substr(place_).starts_with(quotes)) {
      refuse("strings over several lines are not supported");
    }
  }

  [[noreturn]] void refuse_open_string() { refuse("the string has no closing quote"); }

  std::string_view text_;
  const std::string& origin_;
  const TomlLimits& limits_;
  size_t place_ = 0;
  int64_t line_ = 1;
  bool in_array_ = false;
  int64_t num_commas_ = 0;  // of the array
  TomlStatement current_;
  std::vector<TomlStatement> statements_;
};

}  // namespace

std::vector<TomlStatement> split_toml(std::string_view text, const std::string& origin,
                                      const TomlLimits& limits) {
  return Splitter(text, origin, limits).run();
}

bool is_quoted(std::string_view word) {
  return word.starts_with(kMark) && word.find_first_not_of("0123456789", 1) == word.size() - 1 &&
         word.ends_with(kMarkEnd);
}

const std::string& restore(std::string_view word, const TomlStatement& statement) {
  return statement.strings.at(std::stoul(std::string(word.substr(1))));
}

std::string_view trim_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

void refuse_toml(const std::string& origin, int64_t line, std::string_view reason) {
  throw InputError(fmt::format("{}:{}: is not valid TOML: {}", origin, line, reason));
}

}  // namespace proca

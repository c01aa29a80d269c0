#include "proca/config/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/files/path.h"
#include "core/nearest_word.h"
#include "proca/core/error.h"

namespace proca {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnrepresentable = "is too large or too small";

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view rule) {
  throw InvalidOption(fmt::format("--{}: \"{}\" {}", name, value, rule));
}

const std::string& single(std::string_view name, const std::vector<std::string>& values) {
  if (values.size() != 1) {
    throw InvalidOption(fmt::format("--{}: takes one value, {} given", name, values.size()));
  }
  return values.front();
}

// from_chars rather than stol/stod: no locale, no exceptions, no trailing rest.
// `shown` is the value as the user gave it, of which `text` may be a part.
template <typename T>
T parse_number(std::string_view name, std::string_view text, std::string_view shown,
               std::string_view kind) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc::invalid_argument || result.ptr != end) refuse(name, shown, kind);
  if (result.ec != std::errc{}) refuse(name, shown, kUnrepresentable);
  return value;
}

template <typename T>
std::string range_text(T low, T high) {
  const bool has_low = low != std::numeric_limits<T>::lowest() && !(low <= -HUGE_VAL);
  const bool has_high = high != std::numeric_limits<T>::max() && !(high >= HUGE_VAL);
  if (has_low && has_high) return fmt::format("{} to {}", low, high);
  if (has_low) return fmt::format("at least {}", low);
  if (has_high) return fmt::format("at most {}", high);
  return "";
}

template <typename T>
void check_range(std::string_view name, const std::string& text, T value, T low, T high) {
  if (value < low || value > high) {
    refuse(name, text, fmt::format("is out of range: must be {}", range_text(low, high)));
  }
}

std::string toml_float(double value) {
  auto text = fmt::format("{}", value);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

std::string toml_list(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const auto& value : values) quoted.push_back(toml_string(value));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string normalised(const std::string& path) { return normalise_path(path).string(); }

// A value of an option of that type as it is stored: paths have one spelling everywhere behind
// the options. Of words that may name a file only those that do are paths.
std::string as_stored(const std::string& type, const std::string& text) {
  constexpr std::string_view kScript = "script:";
  const auto is_one_of = [&](std::initializer_list<const char*> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  if (is_one_of({"PATH", "DIR", "FILE", "DOMAIN"})) return normalised(text);
  if (is_one_of({"PRESET", "EXPERIMENT"}) && fs::path(normalised(text)).extension() == ".toml") {
    return normalised(text);
  }
  if (type == "BACKBONE" && text.starts_with(kScript)) {
    return std::string(kScript) + normalised(text.substr(kScript.size()));
  }
  return text;
}

}  // namespace

void OptionSet::add(Option option) {
  option.name = prefix_ + option.name;
  option.section = section_;
  if (find(option.name) != nullptr) throw std::logic_error("option declared twice: " + option.name);
  options_.push_back(std::move(option));
}

Option& OptionSet::add(std::string name, std::string help, std::string type) {
  Option option;
  option.name = std::move(name);
  option.help = std::move(help);
  option.type = std::move(type);
  add(std::move(option));
  return options_.back();
}

void OptionSet::bind(std::string name, int64_t& value, std::string help, int64_t low,
                     int64_t high) {
  auto& option = add(name, std::move(help), "INT");
  option.range = range_text(low, high);
  option.assign = [name = option.name, &value, low, high](const auto& values) {
    const auto& text = single(name, values);
    const auto parsed = parse_number<int64_t>(name, text, text, "is not a whole number");
    check_range(name, text, parsed, low, high);
    value = parsed;
  };
  option.toml = [&value] { return fmt::format("{}", value); };
}

void OptionSet::bind(std::string name, double& value, std::string help, double low, double high) {
  auto& option = add(name, std::move(help), "FLOAT");
  option.range = range_text(low, high);
  option.assign = [name = option.name, &value, low, high](const auto& values) {
    const auto& text = single(name, values);
    const auto parsed = parse_number<double>(name, text, text, "is not a number");
    if (std::isnan(parsed)) refuse(name, text, "is not a number");  // It passes every comparison.
    check_range(name, text, parsed, low, high);
    value = parsed;
  };
  option.toml = [&value] { return toml_float(value); };
}

void OptionSet::bind(std::string name, bool& value, std::string help) {
  auto& option = add(name, std::move(help), "");
  option.shape = Option::Shape::kSwitch;
  option.assign = [name = option.name, &value](const auto& values) {
    const auto& text = single(name, values);
    if (text != "true" && text != "false") refuse(name, text, "must be true or false");
    value = text == "true";
  };
  option.toml = [&value] { return value ? "true" : "false"; };
}

void OptionSet::bind(std::string name, std::string& value, std::string help, std::string type) {
  auto& option = add(name, std::move(help), std::move(type));
  option.assign = [name = option.name, type = option.type, &value](const auto& values) {
    value = as_stored(type, single(name, values));
  };
  option.toml = [&value] { return toml_string(value); };
}

void OptionSet::bind(std::string name, std::vector<std::string>& values, std::string help,
                     std::string type) {
  auto& option = add(name, std::move(help), std::move(type));
  option.shape = Option::Shape::kList;
  option.assign = [type = option.type, &values](const auto& given) {
    values.clear();
    for (const auto& value : given) values.push_back(as_stored(type, value));
  };
  option.toml = [&values] { return toml_list(values); };
}

void OptionSet::bind_positional(std::string name, std::vector<std::string>& values,
                                std::string help, std::string type) {
  bind(std::move(name), values, std::move(help), std::move(type));
  options_.back().shape = Option::Shape::kPositional;
}

void OptionSet::bind_words(std::string name, std::string help, std::vector<std::string> words,
                           std::function<void(size_t)> choose, std::function<size_t()> chosen) {
  auto& option = add(name, std::move(help), fmt::format("{}", fmt::join(words, "|")));
  if (chosen() >= words.size()) {
    throw std::logic_error("option whose default is not one of its choices: " + name);
  }
  option.assign = [name = option.name, words, choose = std::move(choose)](const auto& values) {
    const auto& text = single(name, values);
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == text) return choose(i);
    }
    refuse(name, text, fmt::format("is not one of {}", fmt::join(words, ", ")));
  };
  option.toml = [words, chosen = std::move(chosen)] { return toml_string(words.at(chosen())); };
}

void OptionSet::bind_bytes(std::string name, int64_t& value, std::string help) {
  auto& option = add(name, std::move(help), "BYTES");
  option.assign = [name = option.name, &value](const auto& values) {
    constexpr std::string_view kRule = "is not a number of bytes such as 512M or 4G";
    const auto& text = single(name, values);
    std::string_view digits = text;
    int64_t unit = 1;
    if (!digits.empty()) {
      const auto suffix = std::string_view("KMGT").find(digits.back());
      if (suffix != std::string_view::npos) {
        unit = int64_t{1} << (10 * (suffix + 1));
        digits.remove_suffix(1);
      }
    }
    const auto count = parse_number<int64_t>(name, digits, text, kRule);
    if (count < 0) refuse(name, text, kRule);
    if (count > std::numeric_limits<int64_t>::max() / unit) {
      refuse(name, text, kUnrepresentable);
    }
    value = count * unit;
  };
  option.toml = [&value] { return fmt::format("{}", value); };
}

void OptionSet::bind_auto_bytes(std::string name, std::optional<int64_t>& value, std::string help) {
  const auto number = std::make_shared<int64_t>();
  bind_bytes(std::move(name), *number, std::move(help));
  allow_auto(value, number);
}

void OptionSet::require() { options_.back().required = true; }

void OptionSet::idle_unless(std::function<bool()> has_effect, std::string needs) {
  options_.back().idle_because = [has_effect = std::move(has_effect), needs = std::move(needs)] {
    return has_effect() ? std::string() : "it needs " + needs;
  };
}

const Option* OptionSet::find(std::string_view name) const {
  for (const auto& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

void OptionSet::assign(std::string_view name, const std::vector<std::string>& values) const {
  if (const auto* option = find(name)) return option->assign(values);
  std::vector<std::string> known;
  for (const auto& option : options_) known.push_back(option.name);
  const auto nearest = nearest_word(name, known);
  throw InvalidOption(fmt::format("unknown option \"{}\"{}", name,
                                  nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
}

void OptionSet::assign_default(std::string_view name,
                               const std::vector<std::string>& values) const {
  const auto* option = find(name);
  if (option == nullptr || !*option->chosen) assign(name, values);
}

std::string OptionSet::to_toml() const {
  // TOML has the top level first and every table once, in whatever order the
  // options were declared.
  std::vector<std::string> sections = {""};
  for (const auto& option : options_) {
    if (std::find(sections.begin(), sections.end(), option.section) == sections.end()) {
      sections.push_back(option.section);
    }
  }
  std::string text;
  for (const auto& section : sections) {
    if (!section.empty()) text += fmt::format("\n[{}]\n", section);
    for (const auto& option : options_) {
      if (option.section != section) continue;
      const auto value = option.toml();
      if (!value.empty()) text += fmt::format("{} = {}\n", option.name, value);
    }
  }
  return text;
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted +=
          fmt::format("\\u{:04x}", static_cast<int>(c));  // TOML has no bare control character
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace proca

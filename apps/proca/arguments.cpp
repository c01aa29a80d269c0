#include "arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/nearest_word.h"
#include "proca/core/error.h"

namespace proca::app {
namespace {

class ArgumentReader {
 public:
  ArgumentReader(const DeclaredCommand& command, std::span<const std::string> words)
      : command_(command), words_(words) {}

  GivenValues read() {
    bool only_positional = false;
    while (!words_.empty()) {
      const auto& word = words_.front();
      if (!only_positional && word == "--") {
        only_positional = true;
        words_ = words_.subspan(1);
      } else if (!only_positional && is_flag(word)) {
        read_flag();
      } else {
        given_[&positional(word)].push_back(word);
        words_ = words_.subspan(1);
      }
    }
    return std::move(given_);
  }

 private:
  const Option& positional(const std::string& word) const {
    for (const auto& option : command_.options->options()) {
      if (option.shape == Option::Shape::kPositional) return option;
    }
    throw InvalidOption(fmt::format("proca {}: unexpected argument \"{}\"", command_.name, word));
  }

  const Option& find(const std::string& flag) const {
    std::vector<std::string> known;
    for (const auto* option : command_.all_options()) {
      if (option->shape == Option::Shape::kPositional) continue;
      known.push_back("--" + option->name);
      if (known.back() == flag) return *option;
    }
    throw InvalidOption(
        fmt::format("proca {}: unknown flag {}{}", command_.name, flag, did_you_mean(flag, known)));
  }

  void read_flag() {
    const auto equals = words_.front().find('=');
    const auto& option = find(words_.front().substr(0, equals));
    std::vector<std::string> values;
    if (equals != std::string::npos) values.push_back(words_.front().substr(equals + 1));
    words_ = words_.subspan(1);
    const bool is_list = option.shape == Option::Shape::kList;
    if (option.shape == Option::Shape::kSwitch && values.empty()) {
      values.emplace_back("true");
    } else if (values.empty()) {
      do {
        if (words_.empty() || is_flag(words_.front())) {
          throw InvalidOption(fmt::format("--{}: its value is missing{}", option.name,
                                          words_.empty() ? "" : " in front of " + words_.front()));
        }
        values.push_back(words_.front());
        words_ = words_.subspan(1);
      } while (is_list && !words_.empty() && !is_flag(words_.front()) &&
               is_of_list(option, words_.front()));
    }
    auto& given = given_[&option];
    if (!is_list && !given.empty()) {
      throw InvalidOption(fmt::format("--{}: given more than once", option.name));
    }
    for (const auto& value : values) add_value(given, value, is_list && option.splits_at_commas);
  }

  // Where a command takes values without a flag, a word behind a list may be one of those. A list
  // of numbers goes on as long as there are numbers.
  bool is_of_list(const Option& option, const std::string& word) const {
    const auto& options = command_.options->options();
    const bool has_positional = std::any_of(options.begin(), options.end(), [](const auto& other) {
      return other.shape == Option::Shape::kPositional;
    });
    if (!has_positional) return true;
    return option.type == "INT" && word.find_first_not_of("0123456789,") == std::string::npos;
  }

  static void add_value(std::vector<std::string>& values, const std::string& text, bool splits) {
    size_t begin = 0;
    while (splits && text.find(',', begin) != std::string::npos) {
      const auto end = text.find(',', begin);
      values.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    values.push_back(text.substr(begin));
  }

  const DeclaredCommand& command_;
  std::span<const std::string> words_;  // that are left
  GivenValues given_;
};

}  // namespace

GivenValues parse_arguments(const DeclaredCommand& command, std::span<const std::string> words) {
  return ArgumentReader(command, words).read();
}

bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && (word[1] < '0' || word[1] > '9') &&
         word != "-inf";
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = nearest_word(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace proca::app

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proca {

/// One option, whatever its type: how it is named, explained, read and shown.
struct Option {
  std::string name;     ///< `kebab-case`; the flag is `--name`, the TOML key `name`
  std::string section;  ///< TOML table the key lives in; empty for the top level
  std::string help;     ///< one line, without default and range
  std::string type;     ///< what a value looks like: `INT`, `FLOAT`, `PATH`, `a|b|c`
  std::string range;    ///< `1 to 4096`; empty where every value of the type is fine
  enum class Shape {
    kValue,       ///< exactly one value
    kList,        ///< one or more values
    kSwitch,      ///< no value on the command line; `true` or `false` in TOML
    kPositional,  ///< one or more values without a flag in front
  } shape = Shape::kValue;
  bool required = false;
  bool splits_at_commas = true;  ///< a list: `--tags a,b` gives two values
  bool decides = true;           ///< whether results depend on it
  bool often_used = false;       ///< shown first in `--help`
  /// As TOML: a value that records of results do not mention. It is what earlier versions did,
  /// which had no such option and whose records must be equal to new ones.
  std::string unmentioned = {};
  /// Why a value has no effect beside those of other options; empty where it has one. May be null.
  std::function<std::string()> idle_because = {};

  /// Parses and stores values; throws `InvalidOption` naming the option, the
  /// value and the rule it breaks.
  std::function<void(const std::vector<std::string>&)> assign;
  /// The current value as TOML (`32`, `"resnet50"`, `["a", "b"]`); empty for an
  /// option that has none at the moment and is left out.
  std::function<std::string()> toml;
  /// What `--help` shows as the default; empty for the value it has now.
  std::string shown_default = {};

  /// What the user does: assigns, and remembers that somebody chose the value.
  void choose(const std::vector<std::string>& values) const {
    assign(values);
    *chosen = true;
  }
  std::shared_ptr<bool> chosen = std::make_shared<bool>(false);
};

/// The options of one command, each declared exactly once.
///
/// The declaration binds a name to a field of an options struct; the field's
/// initial value is the default. From it come the command-line flag, the TOML
/// key, the line in `--help` with default and range, and the line in
/// `--print-config`, so none of them can disagree.
///
/// Example:
/// ```
/// struct TrainOptions { int64_t epochs = 100; double lr = 1e-3; };
/// TrainOptions train;
/// OptionSet options;
/// options.bind("epochs", train.epochs, "passes over the images", 1);
/// options.bind("lr", train.lr, "learning rate", 0.0, 10.0);
/// options.assign("epochs", {"20"});   // what the command line does
/// ```
/// The bound fields must outlive the set.
class OptionSet {
 public:
  // Every kind of declaration throws `std::logic_error` for a name declared before.

  void bind(std::string name, int64_t& value, std::string help,
            int64_t low = std::numeric_limits<int64_t>::min(),
            int64_t high = std::numeric_limits<int64_t>::max());
  /// Both ends belong to the range. `inf` is a number, `nan` is none.
  void bind(std::string name, double& value, std::string help,
            double low = -std::numeric_limits<double>::infinity(),
            double high = std::numeric_limits<double>::infinity());
  /// A switch: `--name` sets it, `name = false` in TOML clears it.
  void bind(std::string name, bool& value, std::string help);
  /// Values of the types `PATH`, `DIR`, `FILE` and `DOMAIN` (a folder in `--data-root`) are
  /// paths and stored as `normalise_path` spells them (`proca/core/path.h`), as are a `PRESET`
  /// or `EXPERIMENT` that ends in `.toml` and the file of a `BACKBONE` such as `script:FILE`.
  void bind(std::string name, std::string& value, std::string help, std::string type = "TEXT");
  void bind(std::string name, std::vector<std::string>& values, std::string help,
            std::string type = "TEXT");

  /// A number (int64_t or double) that may be left to the program: the word
  /// `auto` stands for an empty optional.
  template <typename T>
  void bind_auto(std::string name, std::optional<T>& value, std::string help, T low, T high);

  /// One of a few words, each standing for a value, the default among them.
  template <typename T>
  void bind_choice(std::string name, T& value, std::string help,
                   std::vector<std::pair<std::string, T>> choices);

  /// A number of bytes: `1500000`, `64K`, `512M`, `4G`, `2T` (powers of 1024).
  void bind_bytes(std::string name, int64_t& value, std::string help);
  /// The same, or `auto`, which stands for an empty optional.
  void bind_auto_bytes(std::string name, std::optional<int64_t>& value, std::string help);

  /// Values without a flag, at the end of the command line.
  void bind_positional(std::string name, std::vector<std::string>& values, std::string help,
                       std::string type = "PATH");

  /// An option whose reading and showing the caller has worked out already, such
  /// as one that is passed on to another set. Section and prefix are put on it.
  void add(Option option);

  /// The option must be given. Applies to the option declared last.
  void require();
  /// The values of the list declared last may contain commas, so the command line is not split
  /// at them.
  void keep_commas() { options_.back().splits_at_commas = false; }
  /// Results do not depend on the option declared last: a run that was cut off may go on with
  /// another value of it.
  void does_not_decide() { options_.back().decides = false; }
  /// The option declared last is among those that most users want.
  void often_used() { options_.back().often_used = true; }
  /// Records of results leave the option declared last out while it has this value, as TOML.
  void leave_unmentioned(std::string value) { options_.back().unmentioned = std::move(value); }
  /// The option declared last has an effect only while `has_effect` says so; else a user who
  /// chose it is told that `needs` is missing, such as "--detection scd".
  void idle_unless(std::function<bool()> has_effect, std::string needs);
  /// What puts in values that are known late, before the options are shown as a whole.
  void complete_before_showing(std::function<void()> complete) { complete_ = std::move(complete); }
  /// All options as TOML, completed first: read back, they mean the same.
  std::string completed_toml() const {
    if (complete_) complete_();
    return to_toml();
  }
  /// TOML table of the options declared from here on.
  void begin_section(std::string section) { section_ = std::move(section); }
  /// Put in front of the names declared from here on: with `pretrain-`, `epochs`
  /// becomes `--pretrain-epochs`.
  void begin_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  const std::vector<Option>& options() const { return options_; }
  /// Null if there is no such option.
  const Option* find(std::string_view name) const;
  /// Throws `InvalidOption` for an unknown name, with the nearest known one.
  void assign(std::string_view name, const std::vector<std::string>& values) const;
  /// The same, but what the user chose stays: for defaults that are known late.
  void assign_default(std::string_view name, const std::vector<std::string>& values) const;
  /// All options with their current values as a TOML document.
  std::string to_toml() const;

 private:
  Option& add(std::string name, std::string help, std::string type);
  // Makes the last option, which is bound to `number`, one that may be `auto`.
  template <typename T>
  void allow_auto(std::optional<T>& value, const std::shared_ptr<T>& number);
  void bind_words(std::string name, std::string help, std::vector<std::string> words,
                  std::function<void(size_t)> choose, std::function<size_t()> chosen);

  std::vector<Option> options_;
  std::string section_;
  std::string prefix_;
  std::function<void()> complete_;
};

template <typename T>
void OptionSet::bind_auto(std::string name, std::optional<T>& value, std::string help, T low,
                          T high) {
  const auto number = std::make_shared<T>();
  bind(std::move(name), *number, std::move(help), low, high);
  allow_auto(value, number);
}

template <typename T>
void OptionSet::allow_auto(std::optional<T>& value, const std::shared_ptr<T>& number) {
  auto& option = options_.back();
  option.type = "auto|" + option.type;
  option.assign = [&value, number, assign = option.assign](const std::vector<std::string>& values) {
    if (values.size() == 1 && values.front() == "auto") {
      value.reset();
      return;
    }
    assign(values);
    value = *number;
  };
  option.toml = [&value, number, toml = option.toml]() -> std::string {
    if (!value) return "\"auto\"";
    *number = *value;
    return toml();
  };
}

template <typename T>
void OptionSet::bind_choice(std::string name, T& value, std::string help,
                            std::vector<std::pair<std::string, T>> choices) {
  std::vector<std::string> words;
  std::vector<T> values;
  for (auto& [word, meaning] : choices) {
    words.push_back(word);
    values.push_back(meaning);
  }
  bind_words(
      std::move(name), std::move(help), std::move(words),
      [&value, values](size_t index) { value = values[index]; },
      [&value, values] {
        size_t index = 0;
        while (index < values.size() && !(values[index] == value)) ++index;
        return index;
      });
}

/// `text` as a TOML string, quoted and escaped.
std::string toml_string(std::string_view text);

}  // namespace proca

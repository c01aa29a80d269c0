#include "proca/methods/method_options.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "proca/core/error.h"

namespace proca::methods {
namespace {

// Every option of any method, with the methods that have it.
struct OfferedOption {
  Option option;
  std::vector<std::string> methods;
};

std::vector<OfferedOption> offered_options() {
  std::vector<OfferedOption> offered;
  for (const auto& spec : all_methods()) {
    OptionSet set;
    const auto factory = spec.configure(set);  // owns what the options are bound to
    for (const auto& option : set.options()) {
      auto known = std::find_if(offered.begin(), offered.end(), [&](const auto& other) {
        return other.option.name == option.name;
      });
      if (known == offered.end()) {
        Option copy = option;
        copy.shown_default = option.toml();
        // Only checks the value, in a place of its own that lives as long.
        copy.assign = [check = option.assign, factory](const auto& values) { check(values); };
        offered.push_back({std::move(copy), {}});
        known = std::prev(offered.end());
      }
      known->methods.emplace_back(spec.name);
    }
  }
  return offered;
}

bool is_offered(const std::string& name) {
  const auto offered = offered_options();
  return std::any_of(offered.begin(), offered.end(),
                     [&](const auto& known) { return known.option.name == name; });
}

}  // namespace

MethodOptions::MethodOptions(std::string name)
    : names_({std::move(name)}),
      given_(std::make_shared<std::map<std::string, std::vector<std::string>>>()) {}

void MethodOptions::bind(OptionSet& options) {
  std::vector<std::string> names;
  for (const auto& spec : all_methods()) names.emplace_back(spec.name);
  OptionSet own;
  std::string unused;
  own.bind("method", unused, "how to adapt: " + fmt::format("{}", fmt::join(names, ", ")),
           "METHOD");
  auto method = own.options().front();
  method.assign = [this](const std::vector<std::string>& values) {
    if (values.size() != 1) throw InvalidOption("--method: takes one value, or A,B,...");
    names_.clear();
    was_chosen_ = true;
    std::istringstream words(values.front());
    for (std::string word; std::getline(words, word, ',');) names_.push_back(word);
    if (names_.empty()) names_.emplace_back();  // an unknown one
  };
  method.toml = [this] { return toml_string(fmt::format("{}", fmt::join(names_, ","))); };
  options.add(std::move(method));
  options.often_used();
  options.begin_section("method");
  for (auto& [option, methods] : offered_options()) {
    option.help = fmt::format("{} ({})", option.help, fmt::join(methods, ", "));
    option.chosen = std::make_shared<bool>(false);
    option.assign = [given = given_, name = option.name,
                     check = option.assign](const auto& values) {
      check(values);
      (*given)[name] = values;
    };
    // The chosen method's value; nothing if it has no such option.
    option.toml = [this, name = option.name] {
      const auto resolved = resolve();
      const auto* own = resolved.options->find(name);
      return own == nullptr ? std::string() : own->toml();
    };
    options.add(std::move(option));
  }
  options.begin_section("");
}

MethodOptions::Resolved MethodOptions::resolve(
    const std::map<std::string, std::vector<std::string>>& defaults) const {
  Resolved resolved;
  resolved.spec = &find_method(name());
  resolved.options = std::make_shared<OptionSet>();
  resolved.build = resolved.spec->configure(*resolved.options);
  for (const auto& [name, values] : defaults) {
    if (resolved.options->find(name) != nullptr) {
      resolved.options->assign(name, values);
    } else if (!is_offered(name)) {
      throw InputError(fmt::format("[method]: no method has an option \"{}\"", name));
    }
  }
  for (const auto& [name, values] : *given_) {
    if (resolved.options->find(name) == nullptr) {
      if (is_for_another(name)) continue;
      throw InvalidOption(fmt::format("--{}: {} has no such option", name,
                                      fmt::join(beside_.empty() ? names_ : beside_, ", ")));
    }
    resolved.options->assign(name, values);
  }
  resolved.toml = resolved.options->to_toml();
  return resolved;
}

void MethodOptions::choose_one(const std::string& name) {
  if (names_.size() > 1) beside_ = names_;
  names_ = {name};
}

bool MethodOptions::is_for_another(const std::string& option) const {
  const auto has_option = [&](const std::string& method) {
    OptionSet set;
    const auto factory = find_method(method).configure(set);  // owns what the options are bound to
    return set.find(option) != nullptr;
  };
  return std::any_of(beside_.begin(), beside_.end(), has_option) ||
         std::any_of(names_.begin(), names_.end(), has_option);
}

std::vector<std::string> MethodOptions::idle_options(const Resolved& resolved) const {
  std::vector<std::string> sentences;
  for (const auto& [name, values] : *given_) {
    const auto* option = resolved.options->find(name);
    if (option == nullptr || !option->idle_because) continue;
    const auto reason = option->idle_because();
    if (!reason.empty()) sentences.push_back(fmt::format("--{} has no effect: {}", name, reason));
  }
  return sentences;
}

}  // namespace proca::methods

#include "proca/methods/method_options.h"

#include <algorithm>

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
    : name_(std::move(name)),
      given_(std::make_shared<std::map<std::string, std::vector<std::string>>>()) {}

void MethodOptions::bind(OptionSet& options) {
  std::vector<std::string> names;
  for (const auto& spec : all_methods()) names.emplace_back(spec.name);
  options.bind("method", name_, "how to adapt: " + fmt::format("{}", fmt::join(names, ", ")),
               "METHOD");
  options.begin_section("method");
  for (auto& [option, methods] : offered_options()) {
    option.help = fmt::format("{} ({})", option.help, fmt::join(methods, ", "));
    option.chosen = std::make_shared<bool>(false);
    option.assign = [given = given_, name = option.name](const auto& values) {
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
  resolved.spec = &find_method(name_);
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
      throw InvalidOption(fmt::format("--{}: {} has no such option", name, name_));
    }
    resolved.options->assign(name, values);
  }
  resolved.toml = resolved.options->to_toml();
  return resolved;
}

}  // namespace proca::methods

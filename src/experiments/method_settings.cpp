#include "experiments/method_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nearest_word.h"
#include "proca/core/error.h"

namespace proca::experiments {
namespace {

const methods::MethodSpec& method_of(const protocol::Preset& preset, const std::string& table,
                                     const std::string& name) {
  std::vector<std::string> names;
  for (const auto& spec : methods::all_methods()) {
    if (spec.name == name) return spec;
    names.emplace_back(spec.name);
  }
  const auto known = fmt::format("there are {}", fmt::join(names, ", "));
  throw InputError(fmt::format("preset {}: [{}]: unknown method \"{}\"; {}", preset.name, table,
                               name, did_you_mean(name, names, known)));
}

// The options of adaptation, to look up names and check values.
class AdaptationOptions {
 public:
  AdaptationOptions() { values_.bind_training(options_); }

  // Null for others: `bind_training` also declares the options of methods, and `method` itself.
  const Option* find(const std::string& name) const {
    const auto* option = options_.find(name);
    const bool is_adaptations =
        option != nullptr && option->section != "method" && name != "method";
    return is_adaptations ? option : nullptr;
  }

 private:
  engine::AdaptOptions values_;
  OptionSet options_;
};

}  // namespace

MethodSettings settings_for(const protocol::Preset& preset, const std::string& method,
                            const std::string& source, const std::string& target) {
  const AdaptationOptions adaptation;
  MethodSettings settings;
  for (const auto& table : protocol::method_tables(preset, method, source, target)) {
    for (const auto& [name, values] : preset.settings.at(table)) {
      auto& part = adaptation.find(name) != nullptr ? settings.adapt : settings.method;
      part[name] = values;
    }
  }
  return settings;
}

void check_method_tables(const protocol::Preset& preset) {
  const std::string prefix = "for.";
  const AdaptationOptions adaptation;
  for (const auto& [table, settings] : preset.settings) {
    if (!table.starts_with(prefix)) continue;
    const auto method = table.substr(prefix.size(), table.find('.', prefix.size()) - prefix.size());
    const auto& spec = method_of(preset, table, method);
    OptionSet own;
    const auto factory = spec.configure(own);  // owns what the options are bound to
    for (const auto& [name, values] : settings) {
      const auto* option = adaptation.find(name);
      if (option == nullptr) option = own.find(name);
      if (option == nullptr) {
        throw InputError(
            fmt::format("preset {}: [{}]: neither adaptation nor {} has an option \"{}\"",
                        preset.name, table, method, name));
      }
      try {
        option->assign(values);
      } catch (const InputError& error) {
        throw InputError(fmt::format("preset {}, [{}]: {}", preset.name, table, error.what()));
      }
    }
  }
}

}  // namespace proca::experiments

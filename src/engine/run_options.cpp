#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/engine/protocol_runner.h"

namespace proca::engine {
namespace {

// The name that an option of a preset's section has on the command line of `run`.
std::string find_option(const OptionSet& options, const std::string& section,
                        const std::string& name, const std::string& preset) {
  if (section == "pretrain" && options.find("pretrain-" + name) != nullptr) {
    return "pretrain-" + name;
  }
  if (options.find(name) != nullptr) return name;
  throw InputError(fmt::format("preset {}: [{}] has no option \"{}\"", preset, section, name));
}

}  // namespace

void RunOptions::bind(OptionSet& options) {
  options.bind("preset", preset, "benchmark: a name (see proca presets) or a TOML file", "NAME");
  options.require();
  options.bind("data-root", data_root, "folder that holds the domains of the preset", "DIR");
  options.require();
  options.bind("source", source, "domain to learn from", "DOMAIN");
  options.require();
  options.bind("target", target, "domain to adapt to", "DOMAIN");
  options.require();
  options.bind("source-state", source_state,
               "state of a trained source model, {seed} standing for the seed; else one is trained",
               "DIR");
  adapt.bind_training(options);
  pretrain.bind_model(options);
  options.begin_prefix("pretrain-");
  pretrain.bind_training(options);
  options.begin_prefix("");
  adapt.load.bind(options);
  adapt.compute.bind(options);
}

void RunOptions::apply(const protocol::Preset& preset, const OptionSet& options) {
  for (const auto& [section, settings] : preset.settings) {
    if (section != "pretrain" && section != "adapt") continue;
    for (const auto& [name, values] : settings) {
      options.assign_default(find_option(options, section, name, preset.name), values);
    }
  }
  const auto take = [&](const std::string& section) {
    const auto settings = preset.settings.find(section);
    if (settings == preset.settings.end()) return;
    for (const auto& [name, values] : settings->second) adapt.method_defaults[name] = values;
  };
  take("method");
  const auto method = adapt.method.resolve(adapt.method_defaults);
  if (const auto* variant = method.options->find("variant")) {
    const auto quoted = variant->toml();
    take("method." + quoted.substr(1, quoted.size() - 2));
  }
  pretrain.load = adapt.load;
  pretrain.compute = adapt.compute;
}

}  // namespace proca::engine

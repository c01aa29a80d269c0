#include <functional>

#include <fmt/format.h>

#include "experiments/method_settings.h"
#include "experiments/protocol_runner.h"
#include "proca/core/error.h"

namespace proca::experiments {
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

// Adds the preset and its table to errors about a value.
void in_table(const std::string& preset, const std::string& section,
              const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    throw InputError(fmt::format("preset {}, [{}]: {}", preset, section, error.what()));
  }
}

// [method.X]: X must be a variant, or the table would never be read.
void check_variants(const protocol::Preset& preset, const Option& variant) {
  const std::string prefix = "method.";
  for (const auto& [section, settings] : preset.settings) {
    if (!section.starts_with(prefix)) continue;
    const auto word = fmt::format("|{}|", section.substr(prefix.size()));
    if (fmt::format("|{}|", variant.type).find(word) != std::string::npos) continue;
    throw InputError(
        fmt::format("preset {}: [{}]: the variants are {}", preset.name, section, variant.type));
  }
}

}  // namespace

void RunOptions::bind(OptionSet& options) {
  options.bind("preset", preset, "benchmark: a name (see proca presets) or a TOML file", "PRESET");
  options.require();
  options.bind("data-root", data_root, "folder that holds the domains of the preset", "DIR");
  options.require();
  options.bind("source", source, "domain to learn from", "DOMAIN");
  options.require();
  options.bind("target", target, "domain to adapt to", "DOMAIN");
  options.require();
  options.bind("classes-per-step", classes_per_step,
               "classes that arrive at each step; 0 = as many as the preset says", 0, 1'000'000);
  options.bind("source-state", source_state,
               "state of a trained source model, {seed} standing for the seed; else one is trained",
               "DIR");
  keep.bind(options);
  adapt.bind_training(options);
  pretrain.bind_model(options);
  options.begin_prefix("pretrain-");
  pretrain.bind_training(options);
  options.begin_prefix("");
  adapt.load.bind(options);
  adapt.compute.bind(options);
  adapt.compute.bind_ranks(options);
}

void RunOptions::apply(const protocol::Preset& preset, const OptionSet& options) {
  const auto settings_of = [&](const std::string& section) {
    const auto settings = preset.settings.find(section);
    return settings == preset.settings.end() ? protocol::Preset::Settings{} : settings->second;
  };
  const auto assign = [&](const std::string& kind, const std::string& section) {
    for (const auto& [name, values] : settings_of(section)) {
      const auto option = find_option(options, kind, name, preset.name);
      in_table(preset.name, section, [&] { options.assign_default(option, values); });
    }
  };
  // What is for one source comes last and wins.
  assign("pretrain", "pretrain");
  assign("pretrain", "pretrain." + source);
  assign("adapt", "adapt");
  check_method_tables(preset);
  const auto own = settings_for(preset, adapt.method.name(), source, target);
  for (const auto& [name, values] : own.adapt) options.assign_default(name, values);

  const auto take = [&](const std::string& section) {
    for (const auto& [name, values] : settings_of(section)) adapt.method_defaults[name] = values;
    // Without the user's own options, so that an error is the preset's.
    in_table(preset.name, section,
             [&] { methods::MethodOptions(adapt.method.name()).resolve(adapt.method_defaults); });
  };
  // A protocol of steps shows every class once.
  adapt.method_defaults["classes"] = {"new"};
  take("method");
  const auto take_own = [&] {
    for (const auto& [name, values] : own.method) adapt.method_defaults[name] = values;
  };
  take_own();
  const auto method = adapt.method.resolve(adapt.method_defaults);
  if (const auto* variant = method.options->find("variant")) {
    check_variants(preset, *variant);
    const auto quoted = variant->toml();
    take("method." + quoted.substr(1, quoted.size() - 2));
  }
  take_own();  // wins over the variant's, though it may have chosen the variant
  pretrain.load = adapt.load;
  pretrain.compute = adapt.compute;
}

}  // namespace proca::experiments

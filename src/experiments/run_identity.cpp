#include "experiments/run_identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/files/text_checksum.h"
#include "experiments/protocol_runner.h"
#include "proca/core/error.h"

namespace proca::experiments {
namespace {

// The options of `proca run`, bound to values of their own.
struct KnownOptions {
  RunOptions values;
  OptionSet set;
  KnownOptions() { values.bind(set); }
  KnownOptions(const KnownOptions&) = delete;
  KnownOptions& operator=(const KnownOptions&) = delete;

  const Option& at(const std::string& name) const {
    const auto* option = set.find(name);
    if (option == nullptr) set.assign(name, {});  // throws, with the nearest name
    return *option;
  }
};

bool has_option(const std::string& method, const std::string& name) {
  return methods::MethodOptions(method).resolve().options->find(name) != nullptr;
}

}  // namespace

engine::RunIdentity identify_options(RunOptions options) {
  OptionSet set;
  options.bind(set);
  engine::RunIdentity identity;
  identity.add(set);
  if (options.keep.per_class > 0) {
    // Left out otherwise, as runs of earlier versions do.
    const auto add = [&](const char* name, int64_t value) {
      identity.fields.push_back({"", name, fmt::format("{}", value)});
    };
    add("keep-source", options.keep.per_class);
    add("keep-source-bytes", options.keep.max_bytes);
  }
  identity.add(*options.adapt.method.resolve(options.adapt.method_defaults).options, "method");
  return identity;
}

engine::RunIdentity resolved_options(const RunChoice& run) {
  methods::find_method(run.method);  // Here an unknown one is not yet the preset's fault.
  KnownOptions known;
  auto& values = known.values;
  values.source = run.task.source;
  values.target = run.task.target;
  values.adapt.method.set_name(run.method);
  for (const auto& [name, given] : run.options) known.at(name).choose(given);
  values.apply(run.preset, known.set);
  return identify_options(values);
}

OptionValues effective_options(const RunChoice& run) {
  const auto all = resolved_options(run);
  auto rest = run;
  for (const auto& [name, values] : run.options) {
    rest.options.erase(name);
    // Judged with those that stay, so that of two that mean the same one is kept.
    if (resolved_options(rest) != all) rest.options[name] = values;
  }
  return rest.options;
}

OptionValues source_options(const OptionValues& options) {
  OptionSet model;
  engine::SourceTrainingOptions values;
  values.bind_model(model);
  values.load.bind(model);
  values.compute.bind(model);
  OptionValues chosen;
  for (const auto& [name, given] : options) {
    if (name.starts_with("pretrain-") || model.find(name) != nullptr) chosen[name] = given;
  }
  return chosen;
}

OptionValues options_for(const std::string& method, const OptionValues& options) {
  const KnownOptions known;
  OptionValues chosen;
  for (const auto& [name, given] : options) {
    const bool is_methods = known.at(name).section == "method";
    if (!is_methods || has_option(method, name)) chosen[name] = given;
  }
  return chosen;
}

std::string folder_name(const std::string& name, const OptionValues& options) {
  if (options.empty()) return name;
  std::string text;
  for (const auto& [option, values] : options) {
    text += fmt::format("{} = {}\n", option, fmt::join(values, ", "));
  }
  return fmt::format("{}-{}", name, crc32_digits(text));
}

std::vector<std::string> flags_of(const OptionValues& options) {
  const KnownOptions known;
  std::vector<std::string> flags;
  for (const auto& [name, values] : options) {
    if (known.at(name).shape == Option::Shape::kSwitch) {
      // The command line can only set a switch; it is false unless a preset sets it.
      if (values != std::vector<std::string>{"true"}) {
        throw InvalidOption(fmt::format(
            "{}: a switch can be set to true or left out; false cannot be handed on", name));
      }
      flags.push_back("--" + name);
      continue;
    }
    // With = a value may begin with a dash.
    for (const auto& value : values) flags.push_back(fmt::format("--{}={}", name, value));
  }
  return flags;
}

std::string replace_all(std::string text, const std::string& word, const std::string& replacement) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + replacement.size())) {
    text.replace(at, word.size(), replacement);
  }
  return text;
}

}  // namespace proca::experiments

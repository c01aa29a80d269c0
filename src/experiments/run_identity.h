#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/run_identity.h"
#include "protocol/experiment.h"
#include "protocol/preset.h"

namespace proca::experiments {

using OptionValues = std::map<std::string, std::vector<std::string>>;

/// A `proca run` but for its seed: what decides its results.
struct RunChoice {
  const protocol::Preset& preset;
  const protocol::ExperimentTask& task;
  std::string method;
  OptionValues options;
};

struct RunOptions;

/// The options of `proca run` and of its method that decide the results.
engine::RunIdentity identify_options(RunOptions options);

/// All options that decide the results, with the preset's and the method's own in.
/// Throws `InvalidOption` for an unknown method, for an option that neither `proca run`
/// nor the method has, and for a bad value.
engine::RunIdentity resolved_options(const RunChoice& run);

/// The options that change anything: without one of them `resolved_options` differs.
OptionValues effective_options(const RunChoice& run);

/// Those that decide how the source model comes out.
OptionValues source_options(const OptionValues& options);

/// Those that the method has, or that belong to no method.
OptionValues options_for(const std::string& method, const OptionValues& options);

/// `NAME`, or `NAME-1f0c2a9b` with a digest of the options if there are any.
std::string folder_name(const std::string& name, const OptionValues& options);

/// The options as flags of `proca run`.
std::vector<std::string> flags_of(const OptionValues& options);

/// `text` with `replacement` wherever it has `word`, such as `{seed}` in a path.
std::string replace_all(std::string text, const std::string& word, const std::string& replacement);

}  // namespace proca::experiments

#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/experiment.h"
#include "protocol/preset.h"

namespace proca::experiments {

using OptionValues = std::map<std::string, std::vector<std::string>>;

/// A `proca run` but for its seed: what decides its results.
struct RunIdentity {
  const protocol::Preset& preset;
  const protocol::ExperimentTask& task;
  std::string method;
  OptionValues options;
};

/// All options that decide the results, with the preset's and the method's own in.
/// Throws `InvalidOption` for an unknown method, for an option that neither `proca run`
/// nor the method has, and for a bad value.
std::string resolved_options(const RunIdentity& run);

/// The options that change anything: without one of them `resolved_options` differs.
OptionValues effective_options(const RunIdentity& run);

/// Those that decide how the source model comes out.
OptionValues source_options(const OptionValues& options);

/// Those that the method has, or that belong to no method.
OptionValues options_for(const std::string& method, const OptionValues& options);

/// `NAME`, or `NAME-1f0c2a9b` with a digest of the options if there are any.
std::string folder_name(const std::string& name, const OptionValues& options);

/// The options as flags of `proca run`.
std::vector<std::string> flags_of(const OptionValues& options);

}  // namespace proca::experiments

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/files/read_json.h"
#include "protocol/run_result.h"

namespace proca::experiments {

/// The metrics of one seed from `results.json` of a `proca run`; nothing if the run has not
/// finished. Throws `InputError` naming the file when it is damaged, or is of another seed.
std::optional<protocol::RunMetrics> read_results(const std::filesystem::path& folder, int64_t seed);

/// The `metrics` of one seed in the text of a `results.json`, null if it has no such seed. Throws
/// `InputError` naming `origin` when the text is damaged.
Json results_of_seed(const std::string& text, int64_t seed, const std::string& origin);

/// An option of the run in `folder` that has one value, such as `data-root`, from its `run.toml`.
std::string option_of(const std::filesystem::path& folder, const std::string& name);

/// The first line of `options` that the run's `run.toml` does not have; empty if it has
/// them all. Lines with paths are ignored.
std::string missing_option(const std::filesystem::path& folder, const std::string& options);

/// `steps/NN/detection.json` of every step of a finished run, with the classes that were
/// present according to `run.toml`. Empty if the method detects none.
std::vector<protocol::DetectedStep> read_detection(const std::filesystem::path& folder,
                                                   int64_t seed, int64_t num_steps);

/// The parts of `read_detection`; `origin` names the text in messages.
protocol::DetectedStep detection_from_json(const std::string& text, const std::string& origin);
/// The classes of each step, from the comments `# step 1: classes 0, 3` at the end.
std::vector<std::vector<int64_t>> classes_of_steps(const std::string& run_toml,
                                                   const std::string& origin);

}  // namespace proca::experiments

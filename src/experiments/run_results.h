#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/reproduction.h"

namespace proca::experiments {

/// The figures of one seed from `results.json` of a `proca run`; nothing if the run has
/// not got so far. Throws `InputError` naming the file when it is damaged, or is of
/// another seed.
std::optional<protocol::RunMetrics> read_results(const std::filesystem::path& folder, int64_t seed);

/// Where the images were that the run in `folder` was about, from its `run.toml`.
std::string data_root_of(const std::filesystem::path& folder);

/// The first line of `options` that the run's `run.toml` does not have; empty if it has
/// them all. Lines that say where files are do not count.
std::string missing_option(const std::filesystem::path& folder, const std::string& options);

/// `steps/NN/detection.json` of every step of a finished run, with the classes that were
/// there according to `run.toml`. Empty if the method detects none.
std::vector<DetectedStep> read_detection(const std::filesystem::path& folder, int64_t seed,
                                         int64_t num_steps);

/// The parts of `read_detection`; `origin` names the text in messages.
DetectedStep detection_from_json(const std::string& text, const std::string& origin);
/// The classes of each step, from the comments `# step 1: classes 0, 3` at the end.
std::vector<std::vector<int64_t>> classes_of_steps(const std::string& run_toml,
                                                   const std::string& origin);

}  // namespace proca::experiments

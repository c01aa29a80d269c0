#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/protocol_runner.h"

namespace proca::app {

/// Everything about the runs of one task and method as JSON: options, each seed's
/// figures, mean and standard deviation of the main ones.
std::string results_json(const experiments::RunOptions& options,
                         const std::vector<experiments::SeedResult>& results);

/// The tables of the runs as text, under `title`.
std::string results_text(const std::string& title,
                         const std::vector<experiments::SeedResult>& results);

/// Writes `results.json` and `results.txt` into the folder of the runs.
void write_results(const std::filesystem::path& folder, const std::string& json,
                   const std::string& text);

}  // namespace proca::app

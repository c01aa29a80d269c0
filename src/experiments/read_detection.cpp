// Apart from run_results.cpp, which needs no LibTorch: states hold tensors.

#include <fmt/format.h>

#include "core/files/text_checksum.h"
#include "experiments/run_results.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/state/state_directory.h"
#include "state/state_files.h"
#include "state/step_files.h"

namespace proca::experiments {

namespace fs = std::filesystem;

std::vector<protocol::DetectedStep> read_detection(const fs::path& folder, int64_t seed,
                                                   int64_t num_steps) {
  const auto config = folder / "run.toml";
  const auto text = read_text_file(config);
  refuse_wrong_checksum(check_toml_checksum(text), config.string());
  const auto present = classes_of_steps(text, config.string());
  if (static_cast<int64_t>(present.size()) < num_steps) {
    throw InputError(fmt::format("{}: is damaged: it has no classes of step {}", config.string(),
                                 present.size() + 1));
  }
  const auto place = folder / fmt::format("seed-{}", seed);
  if (!state::StateDirectory::exists(place)) return {};
  const state::StateDirectory state(
      place, [](const std::string& file) { return file.ends_with(state::kDetectionFile); });
  std::vector<protocol::DetectedStep> steps;
  for (int64_t step = 1; step <= num_steps; ++step) {
    const auto name = state::step_file_name(step, state::kDetectionFile);
    if (!state.has(name)) return {};
    steps.push_back(detection_from_json(state.read_text(name), (state.folder() / name).string()));
    steps.back().present = present[static_cast<size_t>(step - 1)];
  }
  return steps;
}

}  // namespace proca::experiments

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proca/config/options.h"
#include "proca/engine/adapter.h"
#include "proca/engine/source_trainer.h"
#include "protocol/preset.h"
#include "protocol/run_metrics.h"

namespace proca::experiments {

/// A whole protocol: source training, all time steps, evaluation after each.
struct RunOptions {
  std::string preset;            ///< a name, or the path of a TOML file
  std::string data_root;         ///< folder of the preset's domains
  std::string source;            ///< domain
  std::string target;            ///< domain
  int64_t classes_per_step = 0;  ///< 0: the preset's
  /// State directory of a trained source model to use; `{seed}` in it stands for the
  /// seed. Empty: one is trained per seed.
  std::string source_state;
  std::vector<int64_t> seeds = {0};
  /// Adapts with so many source images of each class in place of all, as a state does that
  /// keeps them.
  engine::KeepSourceOptions keep;
  engine::SourceTrainingOptions pretrain;
  engine::AdaptOptions adapt;

  /// Declares everything but the seeds. Options of source training that adaptation
  /// has too are called `--pretrain-epochs` and so on.
  void bind(OptionSet& options);
  /// Puts in what the preset sets and the user did not choose. `options` is what
  /// `bind` was given. Throws `InputError` for an option that does not exist.
  void apply(const protocol::Preset& preset, const OptionSet& options);
};

/// One seed's results.
struct SeedResult {
  int64_t seed = 0;
  protocol::RunMetrics metrics = {};
  double seconds = 0;  ///< of the steps done in this process
};

/// Runs `options`, with the preset's values in, for every seed:
///
///     out/run.toml        what decides the results
///     out/source-0/       state of the source model of seed 0, unless one was given
///     out/seed-0/         state that goes through the steps; steps/NN/metrics.json
///
/// What is there already is not done again, so that a run that was cut off goes on
/// and a finished one can be given more seeds. Target labels are read to deal the
/// images out to the steps, as a benchmark does, and by the evaluation; what
/// adapts gets the images without labels.
///
/// Throws `InputError` when `out` holds a run with other options.
std::vector<SeedResult> run_protocol(const RunOptions& options, const protocol::Preset& preset,
                                     const std::filesystem::path& out);

}  // namespace proca::experiments

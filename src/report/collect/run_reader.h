#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/files/read_json.h"
#include "report/collect/detail.h"

namespace proca::report {

/// The folders of one run of the document.
struct RunFolders {
  std::filesystem::path folder;              ///< as it was given
  std::vector<std::filesystem::path> parts;  ///< folders with a `run.toml`, or about to have one;
                                             ///< empty: `folder` is a state directory
  /// The state directories, one per seed, and the seeds' numbers.
  struct Seed {
    std::filesystem::path part;
    std::filesystem::path state;
    std::optional<int64_t> number;
    int64_t num_steps = 0;
  };
  std::vector<Seed> seeds;
};

/// Looks for the seeds of the run in `parts`.
RunFolders find_seeds(std::filesystem::path folder, std::vector<std::filesystem::path> parts);
/// A state directory as a run of one seed.
RunFolders as_run(std::filesystem::path state);

/// Whether a run shows some images of source and target.
enum class Strips { kShown, kLeftOut };

/// A run as in docs/formats/report_data.md. Throws `InputError` naming a damaged file.
Json read_run(const RunFolders& folders, const Detail& detail, Strips strips);

}  // namespace proca::report

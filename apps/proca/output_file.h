#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace proca::app {

/// To call before a command writes the file `out` that its user named: refuses with `InputError`
/// what would destroy data, and removes what a killed command left beside it. Refused are
///
/// - a file that the command reads, one of `inputs`; folders among them, and words that name no
///   file, are ignored;
/// - a file of a state or of a run, in whatever folder;
/// - an image: nothing that proca writes with `--out` is one.
void prepare_output(const std::filesystem::path& out, const std::vector<std::string>& inputs);

}  // namespace proca::app

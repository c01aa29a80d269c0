#include "output_file.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/files/path.h"
#include "data/codec/decoders.h"
#include "data/source/file_kinds.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/state/state_directory.h"
#include "state/state_files.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_output(const fs::path& out, const std::string& why) {
  throw InputError(fmt::format("{}: is not overwritten: {}; name another file", out.string(), why));
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  return fs::equivalent(a, b, missing) && !missing;
}

// `state/model.safetensors` and `state/steps/01/metrics.json`, though the file may not be there.
bool is_of_a_state(const fs::path& out) {
  const auto folder = out.parent_path();
  if (state::StateDirectory::exists(folder)) return state::is_state_file(out.filename().string());
  const auto steps = folder.parent_path();
  return steps.filename() == state::kStepsFolder &&
         state::StateDirectory::exists(steps.parent_path());
}

bool is_of_a_run(const fs::path& out) {
  static const std::set<fs::path> names = {"run.toml", "results.json", state::kLockFile};
  return names.contains(out.filename()) && is_there(out.parent_path() / "run.toml");
}

bool is_image(const fs::path& out) {
  std::error_code missing;
  if (!fs::is_regular_file(out, missing)) return false;
  // A BMP begins with two letters only, as a list of BMW/1.jpg does: there the name has to agree.
  return data::begins_as_image(out) ||
         (data::has_image_extension(out) && data::begins_as_image(MappedFile(out).bytes()));
}

}  // namespace

void prepare_output(const fs::path& out, const std::vector<std::string>& inputs) {
  for (const auto& input : inputs) {
    if (is_same_file(out, input)) refuse_output(out, "the command reads it");
  }
  const auto place = absolute_path(out);
  if (is_of_a_state(place)) refuse_output(out, "it belongs to a state");
  if (is_of_a_run(place)) refuse_output(out, "it belongs to a run");
  if (is_image(out)) refuse_output(out, "it is an image");
  remove_leftovers(out);
}

}  // namespace proca::app

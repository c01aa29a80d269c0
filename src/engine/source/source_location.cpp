#include "engine/source/source_location.h"

#include <fmt/format.h>

#include "core/files/path.h"
#include "engine/run_identity.h"
#include "engine/source/training_record.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "state/state_files.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

std::string absolute_path(const fs::path& path) {
  return path.empty() ? "" : fs::absolute(normalise_path(path)).lexically_normal().string();
}

// The folder as the file system knows it: behind a link, `..` leads elsewhere than it looks.
fs::path real_folder(const fs::path& folder) {
  std::error_code error;
  auto real = fs::weakly_canonical(fs::absolute(normalise_path(folder)), error);
  return error ? fs::absolute(folder).lexically_normal() : real;
}

// `path` from the state's folder on; empty unless it is near.
std::string path_from_state(const std::string& path, const fs::path& folder) {
  constexpr int64_t kMostUp = 2;
  if (path.empty()) return {};
  // The last name may be a link: it moves with the folder that holds it.
  const auto whole = fs::path(path);
  const auto from = real_folder(folder);
  const auto relative =
      (real_folder(whole.parent_path()) / whole.filename()).lexically_relative(from);
  int64_t up = 0;
  for (const auto& part : relative) up += part == ".." ? 1 : 0;
  fs::path common = from;
  for (int64_t i = 0; i < up; ++i) common = common.parent_path();
  const bool is_near = up >= 1 && up <= kMostUp && common != common.root_path();
  return is_near ? relative.string() : "";
}

std::unique_ptr<data::ImageSource> open_at(const state::StateDirectory& state,
                                           const SourceLocation& location) {
  return data::open_images(location.images, {.labels = data::Labels::kRequired,
                                             .root = location.root,
                                             .known_classes = state.manifest().model.class_names});
}

// What a source model was trained on; states of early versions know less.
const RunIdentity::Field* trained_on(const RunIdentity& training, const char* note) {
  return training.find(RunIdentity::kNote, note);
}

// "600 in 6 classes, names 1f0c2a9b": the numbers are said if they differ.
[[noreturn]] void refuse_listing(const fs::path& place, const state::StateDirectory& state,
                                 const std::string& theirs, const std::string& ours) {
  const auto counts = [](const std::string& text) { return text.substr(0, text.find(", names")); };
  const auto what = counts(theirs) != counts(ours)
                        ? fmt::format("there are {}, not {}", counts(ours), counts(theirs))
                        : fmt::format("{}, but with other names or labels", counts(ours));
  throw InputError(
      fmt::format("{}: are not the images that the source model of {} was trained "
                  "on: {}",
                  place.string(), state.folder().string(), what));
}

void check_listing(const data::ImageListing& listing, const state::StateDirectory& state,
                   const fs::path& place) {
  const auto training = RunIdentity::parse(state.read_text(state::kConfigFile));
  const auto* images = trained_on(training, kImagesNote);
  if (images == nullptr) return;
  const auto ours = describe_images(listing);
  if (ours != images->value) refuse_listing(place, state, images->value, ours);
}

std::shared_ptr<const data::ImageSource> open_checked(const state::StateDirectory& state,
                                                      const SourceLocation& location) {
  std::shared_ptr images = open_at(state, location);
  check_listing(images->listing(), state, location.images);
  return images;
}

// Beside a state that was moved something else of the same name could be; then the images may
// still be where they were.
std::shared_ptr<const data::ImageSource> open_found(const state::StateDirectory& state) {
  const auto& manifest = state.manifest();
  const auto location = find_source(manifest, state.folder());
  const SourceLocation recorded{manifest.source, manifest.source_root};
  if (location.images == recorded.images) return open_at(state, location);
  try {
    return open_checked(state, location);
  } catch (const InputError&) {
    if (!is_there(recorded.images)) throw;
  }
  return open_checked(state, recorded);
}

}  // namespace

void record_source(state::Manifest& manifest, const SourceLocation& location,
                   const fs::path& folder) {
  manifest.source = absolute_path(location.images);
  manifest.source_root = absolute_path(location.root);
  manifest.source_from_state = path_from_state(manifest.source, folder);
  manifest.source_root_from_state = path_from_state(manifest.source_root, folder);
}

SourceLocation find_source(const state::Manifest& manifest, const fs::path& folder) {
  const auto find = [&](const std::string& from_state, const std::string& absolute) -> fs::path {
    if (!from_state.empty()) {
      const auto beside = (real_folder(folder) / from_state).lexically_normal();
      if (is_there(beside)) return beside;
    }
    return absolute;
  };
  return {find(manifest.source_from_state, manifest.source),
          find(manifest.source_root_from_state, manifest.source_root)};
}

bool is_found_at(const SourceLocation& location, const state::Manifest& manifest,
                 const fs::path& folder) {
  const auto found = find_source(manifest, folder);
  return found.images == absolute_path(location.images) &&
         found.root == absolute_path(location.root);
}

std::shared_ptr<const data::ImageSource> open_source_of(const state::StateDirectory& state) {
  try {
    return open_found(state);
  } catch (const InputError& error) {
    const auto* advice = state.has(state::kKeptSourceFile)
                             ? ", or take those that the state keeps (--source-images kept)"
                             : "";
    throw InputError(fmt::format(
        "{}: adaptation needs the source images that this state was trained on, and they cannot "
        "be used any more: {}; if they are elsewhere, give their place (--source){}",
        state.folder().string(), error.what(), advice));
  }
}

std::shared_ptr<const data::ImageSource> open_relocated_source(const state::StateDirectory& state,
                                                               const SourceLocation& location,
                                                               const data::LoadOptions& load,
                                                               int64_t threads) {
  auto images = open_checked(state, location);
  const auto training = RunIdentity::parse(state.read_text(state::kConfigFile));
  const auto* pixels = trained_on(training, kPixelsNote);
  if (pixels == nullptr) {
    log_warning(
        fmt::format("{}: only names and labels are compared with those of the source "
                    "training; this state does not know its pixels",
                    location.images.string()));
    return images;
  }
  auto options = training_options_of(state);
  options.source = location.images.string();
  const auto on_bad_image = options.load.on_bad_image;
  options.load = load;
  options.load.on_bad_image = on_bad_image;
  options.load.root = location.root.string();
  if (hash_training_images(options, threads) != pixels->value) {
    throw InputError(fmt::format(
        "{}: are not the images that the source model of {} was trained on: the names are the "
        "same, but not all pixels",
        location.images.string(), state.folder().string()));
  }
  log_info(fmt::format("{}: the source images of {} are here now", location.images.string(),
                       state.folder().string()));
  return images;
}

}  // namespace proca::engine

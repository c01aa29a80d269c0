#pragma once

#include <filesystem>
#include <memory>

#include "proca/data/image_source.h"
#include "proca/data/load_options.h"
#include "proca/state/state_directory.h"

namespace proca::engine {

/// Where the source images of a state are.
struct SourceLocation {
  std::filesystem::path images;  ///< a folder, a list file or a packed file
  std::filesystem::path root;    ///< what a list file's paths are relative to; empty: its folder
};

/// Writes the location into the manifest of the state in `folder`: as an absolute path and, if
/// the images lie below the folder that holds the state or below the one above that, also as a
/// path from the state on.
void record_source(state::Manifest& manifest, const SourceLocation& location,
                   const std::filesystem::path& folder);

/// Where the source images of the state in `folder` are now: at their place beside the state,
/// if there is something, else where they were. Nothing is opened.
SourceLocation find_source(const state::Manifest& manifest, const std::filesystem::path& folder);

/// Whether the images of the state in `folder` are found at that place anyway.
bool is_found_at(const SourceLocation& location, const state::Manifest& manifest,
                 const std::filesystem::path& folder);

/// Opens the source images of a state: those that `find_source` finds or, if others are at their
/// place beside a state that was moved, those where they were. Throws `InputError` with what is
/// wrong if neither are there.
std::shared_ptr<const data::ImageSource> open_source_of(const state::StateDirectory& state);

/// Opens them at another place. Throws `InputError` that says what differs unless names, labels
/// and pixels are those that the source model was trained on; `load` is for decoding them.
std::shared_ptr<const data::ImageSource> open_relocated_source(const state::StateDirectory& state,
                                                               const SourceLocation& location,
                                                               const data::LoadOptions& load,
                                                               int64_t threads);

}  // namespace proca::engine

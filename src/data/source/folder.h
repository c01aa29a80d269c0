#pragma once

#include <cstdint>
#include <filesystem>

#include "proca/data/image_source.h"

namespace proca::data {

/// How deep folders of unlabelled images may nest. More is a link to a folder above itself.
inline constexpr int64_t kMaxFolderDepth = 32;

/// Lists a folder with a folder per class, or with images alone, which have no labels. Names are
/// in byte order, so that the order is the same on every computer; those that begin with a dot
/// are passed over. Throws `InputError` for any other folder.
ImageListing list_labelled_folder(const std::filesystem::path& path);

/// Lists all images below a folder, however it is arranged: those of a folder first, then those
/// of the folders in it. Throws `InputError` for a folder without images.
ImageListing list_all_below(const std::filesystem::path& path);

}  // namespace proca::data

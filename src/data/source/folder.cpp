#include "data/source/folder.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "data/source/file_kinds.h"
#include "proca/core/error.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;

struct FolderContent {
  std::vector<fs::path> images;
  std::vector<fs::path> folders;
};

// Adds what cannot be decoded to the listing.
FolderContent read_folder(const fs::path& folder, ImageListing& listing) {
  FolderContent content;
  std::vector<fs::path> unsupported;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto& path = entry->path();
    if (path.filename().string().starts_with('.')) continue;
    std::error_code unreadable;  // Reading the image will say why.
    if (entry->is_directory(unreadable)) {
      content.folders.push_back(path);
    } else if (has_image_extension(path)) {
      content.images.push_back(path);
    } else if (!unsupported_kind(path).empty()) {
      unsupported.push_back(path);
    }
  }
  if (error) {
    throw InputError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  }
  // The order depends on the file system.
  std::sort(content.images.begin(), content.images.end());
  std::sort(content.folders.begin(), content.folders.end());
  std::sort(unsupported.begin(), unsupported.end());
  for (const auto& path : unsupported) listing.unsupported.push_back(path.string());
  return content;
}

void add_below(const fs::path& folder, int64_t depth, ImageListing& listing) {
  if (depth > kMaxFolderDepth) {
    throw InputError(
        fmt::format("{}: folders nest more than {} deep; is there a link to a folder above?",
                    folder.string(), kMaxFolderDepth));
  }
  const auto content = read_folder(folder, listing);
  for (const auto& image : content.images) listing.samples.push_back({image.string(), kNoLabel});
  for (const auto& inner : content.folders) add_below(inner, depth + 1, listing);
}

void check_not_empty(const ImageListing& listing) {
  if (!listing.samples.empty()) return;
  if (listing.unsupported.empty()) {
    throw InputError(fmt::format("{}: holds no image ({})", listing.origin, kImageExtensions));
  }
  throw InputError(fmt::format("{}: holds no image that can be read ({}): {}", listing.origin,
                               kImageExtensions, describe_unsupported(listing)));
}

}  // namespace

ImageListing list_labelled_folder(const fs::path& path) {
  ImageListing listing;
  listing.origin = path.string();
  const auto content = read_folder(path, listing);
  if (!content.images.empty() && !content.folders.empty()) {
    throw InputError(fmt::format(
        "{}: holds both images ({}) and folders ({}); expected either a folder per class or "
        "images alone",
        path.string(), content.images.front().filename().string(),
        content.folders.front().filename().string()));
  }
  for (const auto& image : content.images) listing.samples.push_back({image.string(), kNoLabel});
  for (const auto& folder : content.folders) {
    const auto inner = read_folder(folder, listing);
    if (inner.images.empty()) {
      throw InputError(fmt::format(
          "{}: class folder without images{}", folder.string(),
          inner.folders.empty() ? "" : fmt::format(" (did you mean {} itself?)", folder.string())));
    }
    const auto label = listing.num_classes();
    listing.class_names.push_back(folder.filename().string());
    for (const auto& image : inner.images) listing.samples.push_back({image.string(), label});
  }
  check_not_empty(listing);
  return listing;
}

ImageListing list_all_below(const fs::path& path) {
  ImageListing listing;
  listing.origin = path.string();
  add_below(path, 0, listing);
  check_not_empty(listing);
  return listing;
}

}  // namespace proca::data

#include "proca/data/image_source.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/files/path.h"
#include "core/nearest_word.h"
#include "data/source/list_file.h"
#include "data/source/packed_file.h"
#include "data/source/subset.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/data/decode.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;

class ImageFiles final : public ImageSource {
 public:
  explicit ImageFiles(ImageListing listing) { listing_ = std::move(listing); }
  Image read(int64_t index) const override { return read_image(path(index)); }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    const MappedFile file(path(index));
    return {file.bytes().begin(), file.bytes().end()};
  }

 private:
  const std::string& path(int64_t index) const {
    return listing_.samples[static_cast<size_t>(index)].path;
  }
};

bool has_image_extension(const fs::path& path) {
  auto extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png" || extension == ".webp";
}

struct FolderContent {
  std::vector<fs::path> images;
  std::vector<fs::path> folders;
};

FolderContent read_folder(const fs::path& folder) {
  FolderContent content;
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
    }
  }
  if (error) {
    throw InputError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  }
  // The order depends on the file system.
  std::sort(content.images.begin(), content.images.end());
  std::sort(content.folders.begin(), content.folders.end());
  return content;
}

ImageListing list_folder(const fs::path& path) {
  ImageListing listing;
  listing.origin = path.string();
  const auto content = read_folder(path);
  if (!content.images.empty() && !content.folders.empty()) {
    throw InputError(fmt::format(
        "{}: holds both images ({}) and folders ({}); expected either a folder per class or "
        "images alone",
        path.string(), content.images.front().filename().string(),
        content.folders.front().filename().string()));
  }
  for (const auto& image : content.images) listing.samples.push_back({image.string(), kNoLabel});
  for (const auto& folder : content.folders) {
    const auto inner = read_folder(folder);
    if (inner.images.empty()) {
      throw InputError(fmt::format(
          "{}: class folder without images{}", folder.string(),
          inner.folders.empty() ? "" : fmt::format(" (did you mean {} itself?)", folder.string())));
    }
    const auto label = listing.num_classes();
    listing.class_names.push_back(folder.filename().string());
    for (const auto& image : inner.images) listing.samples.push_back({image.string(), label});
  }
  if (listing.samples.empty()) {
    throw InputError(fmt::format("{}: holds no image (.jpg, .jpeg, .png or .webp)", path.string()));
  }
  return listing;
}

ImageListing list_file(const fs::path& path, const OpenOptions& options) {
  const auto root = options.root.empty() ? path.parent_path() : options.root;
  auto list = parse_list_file(read_text_file(path), path.string(), root);
  for (size_t i = 0; i < list.listing.samples.size(); ++i) {
    const auto& sample = list.listing.samples[i];
    const auto where = fmt::format("{}:{}", path.string(), list.line_numbers[i]);
    const auto known = static_cast<int64_t>(options.known_classes.size());
    if (options.labels != Labels::kIgnored && known > 0 && sample.label >= known) {
      throw InputError(fmt::format("{}: label {} is not below the number of classes, {}", where,
                                   sample.label, known));
    }
    std::error_code unreadable;
    const auto type = fs::status(sample.path, unreadable).type();
    if (type != fs::file_type::regular) {
      throw InputError(
          fmt::format("{}: {} {}", where, sample.path,
                      type == fs::file_type::directory ? "is a folder" : "does not exist"));
    }
  }
  return std::move(list.listing);
}

// Renumbers class folders as the model numbers them.
void match_by_name(ImageListing& listing, const std::vector<std::string>& known) {
  if (listing.class_names == known) return;
  const auto counts = listing.count_per_class();
  std::vector<int64_t> label_of;
  for (size_t label = 0; label < counts.size(); ++label) {
    const auto& name = listing.class_names[label];
    const auto place = std::find(known.begin(), known.end(), name);
    if (place == known.end() && counts[label] > 0) {
      const auto nearest = nearest_word(name, known);
      throw InputError(fmt::format("{}: the model has no class \"{}\"{}", listing.origin, name,
                                   nearest.empty() ? "" : "; the nearest is \"" + nearest + "\""));
    }
    label_of.push_back(place - known.begin());
  }
  for (auto& sample : listing.samples) sample.label = label_of[static_cast<size_t>(sample.label)];
  listing.class_names = known;
}

// Labels of a list file are numbers the user chose: only the names are the model's.
void match_by_number(ImageListing& listing, const std::vector<std::string>& known) {
  if (listing.num_classes() > static_cast<int64_t>(known.size())) {
    throw InputError(fmt::format("{}: label {} is not below the number of classes, {}",
                                 listing.origin, listing.num_classes() - 1, known.size()));
  }
  listing.class_names = known;
}

void apply_labels(ImageListing& listing, const OpenOptions& options) {
  if (options.labels == Labels::kIgnored) {
    for (auto& sample : listing.samples) sample.label = kNoLabel;
    listing.class_names.clear();
    return;
  }
  if (!listing.labelled()) {
    if (options.labels == Labels::kRequired) {
      throw InputError(fmt::format(
          "{}: the images have no labels; expected a folder per class, a list with labels or a "
          "labelled packed file",
          listing.origin));
    }
    return;
  }
  if (options.known_classes.empty()) return;
  if (listing.label_meaning == LabelMeaning::kName) {
    match_by_name(listing, options.known_classes);
  } else {
    match_by_number(listing, options.known_classes);
  }
}

// std::filesystem's own exceptions are for programmers.
fs::file_type type_of(const fs::path& path) {
  std::error_code error;
  const auto type = fs::status(path, error).type();
  if (type == fs::file_type::not_found) {
    throw InputError(fmt::format("{}: does not exist", path.string()));
  }
  if (error) {
    throw InputError(fmt::format("{}: cannot be opened: {}", path.string(), error.message()));
  }
  return type;
}

ImageListing single_image(const fs::path& path) {
  ImageListing listing;
  listing.origin = path.string();
  listing.samples.push_back({path.string(), kNoLabel});
  return listing;
}

}  // namespace

std::vector<int64_t> ImageListing::count_per_class() const {
  std::vector<int64_t> counts(class_names.size());
  for (const auto& sample : samples) {
    if (sample.label != kNoLabel) ++counts[static_cast<size_t>(sample.label)];
  }
  return counts;
}

std::unique_ptr<ImageSource> open_images(const fs::path& given, const OpenOptions& options) {
  const auto path = normalise_path(given);
  const bool is_folder = type_of(path) == fs::file_type::directory;
  if (!is_folder && !has_image_extension(path) && is_packed_file(path)) {
    auto packed = open_packed_file(path);
    auto listing = packed->listing();
    apply_labels(listing, options);
    packed->relabel(std::move(listing));
    return packed;
  }
  ImageListing listing;
  if (is_folder) {
    listing = list_folder(path);
  } else if (has_image_extension(path)) {
    listing = single_image(path);
  } else {
    listing = list_file(path, options);
  }
  apply_labels(listing, options);
  return std::make_unique<ImageFiles>(std::move(listing));
}

std::unique_ptr<ImageSource> open_images(const std::vector<std::string>& paths,
                                         const OpenOptions& options) {
  auto unlabelled = options;
  unlabelled.labels = Labels::kIgnored;
  if (paths.size() == 1) return open_images(fs::path(paths.front()), unlabelled);
  std::vector<std::shared_ptr<const ImageSource>> parts;
  for (const auto& path : paths) parts.push_back(open_images(fs::path(path), unlabelled));
  return without_labels(parts);
}

}  // namespace proca::data

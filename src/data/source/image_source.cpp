#include "proca/data/image_source.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "core/files/path.h"
#include "core/nearest_word.h"
#include "data/source/file_kinds.h"
#include "data/source/folder.h"
#include "data/source/list_file.h"
#include "data/source/packed_file.h"
#include "data/source/subset.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
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

ImageListing list_file(const fs::path& path, const OpenOptions& options) {
  const auto root = options.root.empty() ? path.parent_path() : options.root;
  auto list = parse_list_file(read_text_file(path), path.string(), root);
  for (size_t i = 0; i < list.listing.samples.size(); ++i) {
    const auto& sample = list.listing.samples[i];
    const auto where = fmt::format("{}:{}", path.string(), list.line_numbers[i]);
    const auto known = static_cast<int64_t>(options.known_classes.size());
    const bool numbered = list.listing.label_meaning == LabelMeaning::kNumber;
    if (options.labels != Labels::kIgnored && numbered && known > 0 && sample.label >= known) {
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

constexpr int64_t kUnknownLabel = -2;  // until `without_unknown`

[[noreturn]] void refuse_class(const ImageListing& listing, const std::string& name,
                               const std::vector<std::string>& known) {
  const auto nearest = nearest_word(name, known);
  throw InputError(fmt::format("{}: the model has no class \"{}\"{}", listing.origin, name,
                               nearest.empty() ? "" : "; the nearest is \"" + nearest + "\""));
}

// Renumbers class folders as the model numbers them.
void match_by_name(ImageListing& listing, const OpenOptions& options) {
  const auto& known = options.known_classes;
  if (listing.class_names == known) return;
  const auto counts = listing.count_per_class();
  std::vector<int64_t> label_of;
  int64_t num_known = 0;
  for (size_t label = 0; label < counts.size(); ++label) {
    const auto& name = listing.class_names[label];
    const auto place = std::find(known.begin(), known.end(), name);
    if (place == known.end() && counts[label] > 0) {
      if (options.unknown_classes == UnknownClasses::kRefuse) refuse_class(listing, name, known);
      listing.unknown_classes.push_back({name, counts[label]});
      label_of.push_back(kUnknownLabel);
      continue;
    }
    label_of.push_back(place - known.begin());
    num_known += counts[label];
  }
  if (num_known == 0) refuse_class(listing, listing.unknown_classes.front().name, known);
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
    match_by_name(listing, options);
  } else {
    match_by_number(listing, options.known_classes);
  }
}

// Leaves out the images of classes that are not known.
std::unique_ptr<ImageSource> without_unknown(std::unique_ptr<ImageSource> source) {
  const auto& listing = source->listing();
  if (listing.unknown_classes.empty()) return source;
  std::vector<int64_t> known;
  for (int64_t i = 0; i < listing.size(); ++i) {
    if (listing.samples[static_cast<size_t>(i)].label != kUnknownLabel) known.push_back(i);
  }
  return subset(std::shared_ptr<const ImageSource>(std::move(source)), known);
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

// A command may open the same images several times; what was left out is said once.
bool is_news(const ImageListing& listing) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  return said.insert(listing.origin).second;
}

ImageListing list_images(const fs::path& path, bool is_folder, const OpenOptions& options) {
  if (is_folder) {
    return options.labels == Labels::kIgnored ? list_all_below(path) : list_labelled_folder(path);
  }
  if (has_image_extension(path)) return single_image(path);
  if (const auto kind = unsupported_kind(path); !kind.empty()) {
    throw InputError(
        fmt::format("{}: is a file of the kind {}, which is not supported; convert it "
                    "to JPEG or PNG",
                    path.string(), kind));
  }
  return begins_as_image(path) ? single_image(path) : list_file(path, options);
}

}  // namespace

std::string describe_unsupported(const ImageListing& listing) {
  std::map<std::string, int64_t> count_by_kind;
  for (const auto& path : listing.unsupported) ++count_by_kind[unsupported_kind(path)];
  std::string kinds;
  for (const auto& [kind, count] : count_by_kind) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, kind);
  }
  const auto total = listing.unsupported.size();
  return fmt::format("{} {} not supported ({}), such as {}", total,
                     total == 1 ? "file of a kind that is" : "files of kinds that are", kinds,
                     listing.unsupported.front());
}

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
    return without_unknown(std::move(packed));
  }
  auto listing = list_images(path, is_folder, options);
  if (!listing.unsupported.empty() && is_news(listing)) {
    log_warning(fmt::format("{}: left out {}", listing.origin, describe_unsupported(listing)));
  }
  apply_labels(listing, options);
  return without_unknown(std::make_unique<ImageFiles>(std::move(listing)));
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

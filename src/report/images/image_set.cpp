#include "report/images/image_set.h"

#include "core/files/path.h"
#include "proca/core/error.h"
#include "report/images/thumbnails.h"

namespace proca::report {

ImageSet::ImageSet(std::unique_ptr<data::ImageSource> source) : source_(std::move(source)) {
  int64_t index = 0;
  for (const auto& sample : listing().samples) index_of_name_.emplace(sample.path, index++);
}

std::optional<ImageSet> ImageSet::open(const std::filesystem::path& path,
                                       const data::OpenOptions& options) {
  try {
    return ImageSet(data::open_images(path, options));
  } catch (const InputError&) {
    return std::nullopt;  // Moved, removed or changed since the run.
  }
}

std::optional<ImageSet> ImageSet::of_files(const std::vector<std::string>& paths) {
  std::vector<std::string> left;
  for (const auto& path : paths) {
    if (is_there(path)) left.push_back(path);
  }
  if (left.empty()) return std::nullopt;
  try {
    return ImageSet(data::open_images(left, {.labels = data::Labels::kIgnored}));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<int64_t> ImageSet::find(const std::string& name) const {
  const auto found = index_of_name_.find(name);
  if (found == index_of_name_.end()) return std::nullopt;
  return found->second;
}

std::string ImageSet::thumbnail(int64_t index) const {
  try {
    const auto image = source_->read(index);
    return image.width > 0 && image.height > 0 ? thumbnail_url(image) : std::string();
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace proca::report

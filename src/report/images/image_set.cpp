#include "report/images/image_set.h"

#include <stdexcept>

#include "proca/core/error.h"
#include "proca/data/decode.h"
#include "report/images/thumbnails.h"

namespace proca::report {
namespace {

// Not `open_images`: a name is that of an image, never of a folder or a list.
class ImageFiles final : public data::ImageSource {
 public:
  explicit ImageFiles(const std::vector<std::string>& paths) {
    for (const auto& path : paths) {
      std::error_code unreadable;
      if (std::filesystem::is_regular_file(path, unreadable)) {
        listing_.samples.push_back({.path = path});
      }
    }
  }
  data::Image read(int64_t index) const override {
    return data::read_image(listing_.samples[static_cast<size_t>(index)].path);
  }
  std::vector<uint8_t> read_encoded(int64_t) const override {
    throw std::logic_error("only small pictures are made of these images");
  }
};

}  // namespace

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
  auto files = std::make_unique<ImageFiles>(paths);
  if (files->listing().samples.empty()) return std::nullopt;
  return ImageSet(std::move(files));
}

std::optional<int64_t> ImageSet::find(const std::string& name) const {
  const auto found = index_of_name_.find(name);
  if (found == index_of_name_.end()) return std::nullopt;
  return found->second;
}

std::string ImageSet::thumbnail(int64_t index) const {
  try {
    const auto image = data::upright(source_->read(index));  // As evaluation sees it.
    return image.width > 0 && image.height > 0 ? thumbnail_url(image) : std::string();
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace proca::report

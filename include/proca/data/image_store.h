#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proca/data/image_source.h"

namespace proca::data {

/// What becomes of an image that the camera stored lying or mirrored, as EXIF notes.
enum class Orientation {
  kUpright,  ///< it is turned as it was seen
  kStored,   ///< the note is ignored, as by torchvision and by states of earlier versions
};

/// How an image is brought upright and to the size the store keeps.
struct ResizeOptions {
  enum class Mode {
    kExact,        ///< to size x size; changes the aspect ratio
    kShorterSide,  ///< shorter side to size, aspect ratio kept
  };
  Mode mode = Mode::kExact;
  int64_t size = 224;
  Orientation orientation = Orientation::kUpright;

  Image apply(Image image) const;
};

/// What to do with an image that cannot be decoded or resized.
enum class OnBadImage {
  kFail,  ///< throw `InputError` naming the file, at construction or at its first use
  kSkip,  ///< leave it out, and remember which and why
};

struct StoreOptions {
  ResizeOptions resize = {};
  int64_t cache_bytes = 0;  ///< how many bytes of pixels to keep in memory
  OnBadImage on_bad_image = OnBadImage::kFail;
  int64_t threads = 1;
  std::string title = "decoding";  ///< of the progress bar
};

/// An image that was left out.
struct SkippedImage {
  std::string path;
  std::string reason;
};

/// The images of a source, resized. They are decoded once and kept in memory as far as
/// the budget allows; the others are decoded on each use. What `load` returns does not
/// depend on the budget.
///
/// With `OnBadImage::kSkip` every image is decoded once at construction, so that
/// `size()` counts the good ones and indexes do not change afterwards. Throws
/// `InputError` when none is good.
class ImageStore {
 public:
  ImageStore(std::shared_ptr<const ImageSource> source, const StoreOptions& options);

  int64_t size() const { return static_cast<int64_t>(kept_.size()); }
  /// A number that only this store and its copies have in this process.
  int64_t id() const { return id_; }
  const Sample& sample(int64_t index) const;
  const std::vector<std::string>& class_names() const { return source_->listing().class_names; }
  /// The path the user gave.
  const std::string& origin() const { return source_->listing().origin; }
  const std::vector<SkippedImage>& skipped() const { return skipped_; }
  int64_t cached_bytes() const { return cached_bytes_; }
  /// Whether every image is in memory.
  bool is_cached() const;
  /// Width and height of every image, where all are the same; nothing where they depend
  /// on the image.
  std::optional<int64_t> common_side() const;

  /// The image at the store's size. `scratch` holds the pixels when they are
  /// not cached; the view is valid as long as the store and `scratch` are.
  /// Safe to call from several threads with a scratch each.
  ImageView load(int64_t index, Image& scratch) const;

 private:
  void fill();
  Image read_resized(int64_t place) const;  // by index in the source

  std::shared_ptr<const ImageSource> source_;
  StoreOptions options_;
  int64_t id_;
  std::vector<int64_t> kept_;  // index in the source, by index in the store
  std::vector<Image> cache_;   // by index in the source; empty where not cached
  std::vector<SkippedImage> skipped_;
  int64_t cached_bytes_ = 0;
};

/// Half of the memory of this computer: the default budget of every command.
int64_t default_cache_bytes();

}  // namespace proca::data

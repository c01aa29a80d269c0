#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "proca/data/image_source.h"
#include "proca/data/image_store.h"

namespace proca::data {

/// A data set in one memory-mapped file, written by `proca data pack`: opening
/// it costs milliseconds however large it is, and images packed at the training
/// size need no decoding at all. The format is described byte by byte in
/// `docs/formats/packed_file.md`.
class PackedImages : public ImageSource {
 public:
  /// Replaces the listing's labels and class names, keeping the images.
  virtual void relabel(ImageListing listing) = 0;
};

/// Whether the file begins with the magic of a packed file.
bool is_packed_file(const std::filesystem::path& path);

/// The largest packed file that is opened.
struct PackedLimits {
  int64_t max_images = 20'000'000;
  int64_t max_text_bytes = int64_t{4} << 30;  ///< all paths and class names together
  int64_t max_classes = 1'000'001;            ///< labels from 0 to a million
};

/// Header, index and text are checked (sizes, offsets, checksums) here; the
/// pixels of an image are checked against their checksum when it is read.
/// Throws `InputError` naming the file and what is wrong with it, also where it is beyond
/// `limits`.
std::unique_ptr<PackedImages> open_packed_file(const std::filesystem::path& path,
                                               const PackedLimits& limits = {});

/// How the images are stored.
enum class PackedEncoding : uint32_t {
  kPixels = 0,   ///< RGB bytes at the packed size: larger, nothing to decode
  kEncoded = 1,  ///< the image files as they are: smaller, exact at every size
};

struct PackOptions {
  PackedEncoding encoding = PackedEncoding::kPixels;
  /// With `kPixels`: an image with more pixels is resized to exactly this many pixels square, one
  /// with fewer keeps its size.
  int64_t image_size = 224;
  Orientation orientation = Orientation::kUpright;  ///< with `kPixels`; files keep their EXIF
  int64_t threads = 1;
};

/// Packs `source` into `path`, atomically. Throws `InputError` for a broken
/// image or an unwritable path; nothing is left behind then.
void write_packed_file(const std::filesystem::path& path, const ImageSource& source,
                       const PackOptions& options);

}  // namespace proca::data

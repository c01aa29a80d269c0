#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proca/config/options.h"
#include "proca/data/image_store.h"

namespace proca::data {

/// The options of every command that loads images.
struct LoadOptions {
  std::string root;                           ///< folder that list files are relative to
  int64_t cache_ram = default_cache_bytes();  ///< bytes of decoded images to keep
  /// Bytes of images to keep on a GPU; empty for half of what is free there at the
  /// start. Results do not depend on it.
  std::optional<int64_t> cache_gpu;
  OnBadImage on_bad_image = OnBadImage::kFail;

  /// Declares `--root`, `--cache-ram`, `--cache-gpu` and `--on-bad-image`.
  void bind(OptionSet& options);

  /// A store of `source` at the given size; logs what was skipped.
  ImageStore make_store(std::shared_ptr<const ImageSource> source, const ResizeOptions& resize,
                        int64_t threads) const;
  /// For further stores: the same options with the memory that `store` left.
  LoadOptions beside(const ImageStore& store) const;
};

/// The same options without a cache, for images that are used only once.
inline LoadOptions without_cache(LoadOptions options) {
  options.cache_ram = 0;
  return options;
}

}  // namespace proca::data

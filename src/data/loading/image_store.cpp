#include "proca/data/image_store.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "core/parallel.h"
#include "core/progress.h"
#include "core/scope_timer.h"
#include "data/pixels/resize.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"

namespace proca::data {
namespace {

int64_t next_id() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

}  // namespace

Image ResizeOptions::apply(Image image) const {
  if (orientation == Orientation::kUpright) image = upright(std::move(image));
  if (mode == Mode::kShorterSide) return resize_shorter_side(image, size);
  if (image.width == size && image.height == size) return image;
  return resize(image, size, size);
}

ImageStore::ImageStore(std::shared_ptr<const ImageSource> source, const StoreOptions& options)
    : source_(std::move(source)), options_(options), id_(next_id()) {
  if (source_->is_in_memory()) options_.cache_bytes = 0;
  cache_.resize(static_cast<size_t>(source_->listing().size()));
  kept_.resize(cache_.size());
  std::iota(kept_.begin(), kept_.end(), int64_t{0});
  if (options_.cache_bytes > 0 || options_.on_bad_image == OnBadImage::kSkip) fill();
}

void ImageStore::fill() {
  const ScopeTimer timer(options_.title);
  const int64_t total = source_->listing().size();
  std::vector<std::optional<std::string>> problems(static_cast<size_t>(total));
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> used{0};
  std::atomic<bool> full{options_.cache_bytes <= 0};
  Progress progress(options_.title, total, "images");
  parallel_for(total, options_.threads, [&](int64_t i) {
    throw_if_interrupted("stopped while decoding");
    const bool skip_bad = options_.on_bad_image == OnBadImage::kSkip;
    if (skip_bad || !full) {
      try {
        auto image = read_resized(i);
        const auto bytes = static_cast<int64_t>(image.pixels.size());
        if (used.fetch_add(bytes) + bytes <= options_.cache_bytes) {
          cache_[static_cast<size_t>(i)] = std::move(image);
        } else {
          // Later images are about as large: decoding them now would be in vain.
          used -= bytes;
          full = true;
        }
      } catch (const InputError& error) {
        if (!skip_bad) throw;
        problems[static_cast<size_t>(i)] = error.what();
      }
    }
    progress.update(++done);
  });
  cached_bytes_ = used;

  std::erase_if(kept_, [&](int64_t i) { return problems[static_cast<size_t>(i)].has_value(); });
  for (int64_t i = 0; i < total; ++i) {
    if (const auto& problem = problems[static_cast<size_t>(i)]) {
      skipped_.push_back({source_->listing().samples[static_cast<size_t>(i)].path, *problem});
    }
  }
  if (kept_.empty() && total > 0) {
    throw InputError(fmt::format("{}: not one of its {} images can be decoded; the first: {}",
                                 source_->listing().origin, total, skipped_.front().reason));
  }
}

bool ImageStore::is_cached() const {
  return std::all_of(kept_.begin(), kept_.end(), [&](int64_t place) {
    return !cache_[static_cast<size_t>(place)].pixels.empty();
  });
}

std::optional<int64_t> ImageStore::common_side() const {
  if (options_.resize.mode != ResizeOptions::Mode::kExact) return std::nullopt;
  return options_.resize.size;
}

const Sample& ImageStore::sample(int64_t index) const {
  return source_->listing().samples[static_cast<size_t>(kept_[static_cast<size_t>(index)])];
}

ImageView ImageStore::load(int64_t index, Image& scratch) const {
  const int64_t place = kept_[static_cast<size_t>(index)];
  const auto& cached = cache_[static_cast<size_t>(place)];
  if (!cached.pixels.empty()) return cached;
  scratch = read_resized(place);
  return scratch;
}

Image ImageStore::read_resized(int64_t place) const {
  auto image = source_->read(place);
  try {
    return options_.resize.apply(std::move(image));
  } catch (const InputError& error) {
    // Decoding names the file, resizing knows pixels only.
    throw InputError(fmt::format(
        "{}: {}", source_->listing().samples[static_cast<size_t>(place)].path, error.what()));
  }
}

int64_t default_cache_bytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
}

}  // namespace proca::data

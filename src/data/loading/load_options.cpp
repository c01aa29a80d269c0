#include "proca/data/load_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/counted.h"
#include "proca/core/log.h"

namespace proca::data {

void LoadOptions::bind(OptionSet& options) {
  options.bind("root", root, "folder that the paths of a list file are relative to", "DIR");
  // The help shows the rule, not its result on this computer.
  OptionSet own;
  own.bind_bytes("cache-ram", cache_ram, "memory for decoded images, such as 4G");
  auto cache = own.options().front();
  cache.shown_default = "half of the memory";
  options.add(std::move(cache));
  options.does_not_decide();
  options.bind_auto_bytes("cache-gpu", cache_gpu,
                          "GPU memory for images, such as 4G; auto = half of what is free");
  options.does_not_decide();
  options.bind_choice<OnBadImage>("on-bad-image", on_bad_image,
                                  "what to do with an image that cannot be decoded",
                                  {{"fail", OnBadImage::kFail}, {"skip", OnBadImage::kSkip}});
}

ImageStore LoadOptions::make_store(std::shared_ptr<const ImageSource> source,
                                   const ResizeOptions& resize, int64_t threads) const {
  const auto origin = source->listing().origin;
  ImageStore store(std::move(source), {.resize = resize,
                                       .cache_bytes = cache_ram,
                                       .on_bad_image = on_bad_image,
                                       .threads = threads});
  if (!store.skipped().empty()) {
    log_warning(fmt::format("{}: skipped {} that cannot be decoded:", origin,
                            counted(std::ssize(store.skipped()), "image")));
    for (const auto& skipped : store.skipped()) log_warning("  " + skipped.reason);
  }
  return store;
}

LoadOptions LoadOptions::beside(const ImageStore& store) const {
  auto options = *this;
  options.cache_ram = std::max<int64_t>(0, cache_ram - store.cached_bytes());
  return options;
}

}  // namespace proca::data

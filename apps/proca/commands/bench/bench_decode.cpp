#include <memory>

#include "commands/bench/bench.h"
#include "commands/commands.h"
#include "core/stopwatch.h"
#include "proca/data/image_store.h"

namespace proca::app {
namespace {

struct DecodeOptions {
  std::vector<std::string> paths;
  int64_t image_size = 224;
  int64_t repeats = 3;
  compute::ComputeOptions compute;
  bool json = false;
};

}  // namespace

Measurement measure_decode(const std::vector<std::string>& paths, int64_t image_size,
                           int64_t repeats, const compute::ComputeOptions& compute) {
  const std::shared_ptr source = data::open_images(paths, data::OpenOptions{});
  Measurement measurement{
      .bench = "decode", .seconds = {}, .data_s = {}, .about = {{"image_size", image_size}}};
  for (int64_t i = 0; i < repeats; ++i) {
    const Stopwatch watch;
    const data::ImageStore store(source, {.resize = {.size = image_size},
                                          .cache_bytes = data::default_cache_bytes(),
                                          .threads = compute.resolved_threads()});
    measurement.seconds.push_back(watch.seconds());
    measurement.data_s.push_back(measurement.seconds.back());
    // What does not fit into memory was not decoded.
    measurement.images = store.cached_bytes() / (image_size * image_size * data::Image::kChannels);
    measurement.more["cached_mb"] = static_cast<double>(store.cached_bytes()) / 1e6;
  }
  return measurement;
}

Command bench_decode_command() {
  return {"bench decode", "decode and resize images: images/s", [](OptionSet& set) {
            const auto options = std::make_shared<DecodeOptions>();
            options->compute.device = "cpu";
            set.bind_positional("path", options->paths, "folders, list files or packed files");
            set.require();
            set.bind("image-size", options->image_size, "pixels, square", 1, 8192);
            set.bind("repeats", options->repeats, "to take the median of", 1, 10'000);
            set.bind("threads", options->compute.threads, "threads that decode; 0 = all cores", 0,
                     4096);
            set.bind("json", options->json, "print JSON");
            return [options] {
              print(measure_decode(options->paths, options->image_size, options->repeats,
                                   options->compute),
                    options->compute, options->json);
            };
          }};
}

}  // namespace proca::app

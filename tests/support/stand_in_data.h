#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proca/core/random.h"
#include "proca/data/image.h"
#include "support/test_images.h"

namespace proca::test {

/// A picture of 16 x 16 pixels in a colour of its class, with noise: for benchmarks of
/// which only the numbers of classes and steps are real.
inline data::Image stand_in_image(int64_t label, int64_t index, int64_t domain) {
  RandomStream random(0, "stand-in", static_cast<uint64_t>(label), static_cast<uint64_t>(index),
                      static_cast<uint64_t>(domain));
  auto image = data::Image::black(16, 16);
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    const auto channel = static_cast<int64_t>(i % 3);
    const int64_t colour = (label * 53 + channel * label * 31 + domain * 20) % 200;
    image.pixels[i] = static_cast<uint8_t>(colour + random.uniform_int(50));
  }
  return image;
}

/// Not `write_png`: hundreds of files need not be synced to disk one by one.
inline void write_stand_in(const std::filesystem::path& path, const data::Image& image) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << png_text(image);
}

/// folder/<class>/<index>.png
inline void write_stand_in_folder(const std::filesystem::path& folder,
                                  const std::vector<std::string>& classes, int64_t per_class,
                                  int64_t domain) {
  for (size_t label = 0; label < classes.size(); ++label) {
    for (int64_t i = 0; i < per_class; ++i) {
      write_stand_in(folder / classes[label] / (std::to_string(i) + ".png"),
                     stand_in_image(static_cast<int64_t>(label), i, domain));
    }
  }
}

/// A list file beside its images, `list.images/<label>.png`, with `per_class` of each label.
inline void write_stand_in_list(const std::filesystem::path& list,
                                const std::vector<int64_t>& labels, int64_t per_class,
                                int64_t domain) {
  std::string lines;
  const auto images = list.stem().string() + ".images";
  for (const int64_t label : labels) {
    for (int64_t i = 0; i < per_class; ++i) {
      const auto name = images + "/" + std::to_string(label) + "-" + std::to_string(i) + ".png";
      write_stand_in(list.parent_path() / name, stand_in_image(label, i, domain));
      lines += name + " " + std::to_string(label) + "\n";
    }
  }
  write_text(list, lines);
}

}  // namespace proca::test

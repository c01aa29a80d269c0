#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proca/data/image.h"

namespace proca::demo {

/// The demo data: pictures of sixteen everyday things in two domains, drawn by
/// the program itself, so that adaptation can be tried in a minute and without a
/// download.
///
///   sketch   clean pen lines on white paper, about half of them with a pale
///            wash of colour: the labelled source domain
///   photo    filled, shaded and coloured things in front of a cluttered
///            background, with varied light, blur and sensor noise: the target
///
/// Both domains draw from the same variety of proportions, sizes, tilts and
/// positions. What differs is the rendering alone, and it differs enough that a
/// network trained on sketches errs on about four photos in ten, while the
/// photos of one class still look alike: there is something for adaptation to
/// gain, and a way to gain it.
enum class DemoDomain {
  kSketch,
  kPhoto,
};

/// Every image of a domain and class is numbered from 0, and its pixels are a
/// pure function of (seed, domain, class, number, image size): asking for more
/// images changes none of them.
struct DemoDataOptions {
  /// Width and height in pixels, 16 to 256. The things stay recognisable from 32.
  int64_t image_size = 32;
  /// Sketches per class, 1 to 9999.
  int64_t source_per_class = 60;
  /// Photos per class, 1 to 9999.
  int64_t target_per_class = 40;
  /// Another seed gives another data set of the same kind.
  uint64_t seed = 0;

  /// Throws `InvalidOption` naming the first field that is out of range.
  void validate() const;
};

/// The names of the classes in alphabetical order, which is also the order of
/// their labels: boat, car, clock, ...
std::vector<std::string> demo_class_names();

/// Draws one picture. Throws `InvalidOption` when the class does not exist or
/// the number is negative, and `Error` when the program was built without cairo
/// (Debian: libcairo2-dev).
data::Image draw_demo_image(DemoDomain domain, int64_t class_index, int64_t index,
                            const DemoDataOptions& options = {});

/// Draws the whole data set as two image folders with one folder per class,
///
///     folder/sketch/boat/0001.png ... folder/sketch/umbrella/0060.png
///     folder/photo/boat/0001.png  ... folder/photo/umbrella/0040.png
///     folder/demo-data.txt        the options, one `name = value` per line
///
/// where file n holds image number n - 1. Everything is written to a folder
/// beside `folder` first and renamed at the end, so that a failure leaves
/// nothing half-written. Parents of `folder` are created.
///
/// `folder` may be absent, empty, or hold earlier demo data (known by its
/// demo-data.txt), which is replaced. Throws `InputError` when it holds anything
/// else or cannot be written to, and what `draw_demo_image` throws.
///
/// Example:
/// ```
/// write_demo_data("demo", {.image_size = 64, .seed = 7});
/// ```
void write_demo_data(const std::filesystem::path& folder, const DemoDataOptions& options = {});

}  // namespace proca::demo

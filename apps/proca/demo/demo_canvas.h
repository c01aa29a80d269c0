#pragma once

// The one place that knows cairo: fills and strokes paths, gives pixels back.

#include <cstdint>
#include <memory>
#include <vector>

#include "demo/demo_path.h"

namespace proca::demo {

/// What a path is filled or stroked with.
struct Paint {
  Color color;
  double opacity = 1;
  /// 0 is flat. Otherwise the paint runs from lighter to darker across the path,
  /// away from the light; 1 ends in black.
  double contrast = 0;
  /// Where the light comes from: radians, clockwise from the x axis.
  double light_angle = 0;
};

/// A square picture in the making, `size` units wide. It starts black.
///
/// Throws `Error` naming libcairo2-dev when the program was built without cairo.
class Canvas {
 public:
  explicit Canvas(int64_t size);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void fill(const Path& path, const Paint& paint);
  /// Lines have round ends and corners.
  void stroke(const Path& path, double width, const Paint& paint);

  /// Channel values 0 to 255 in the order of `Image::pixels`.
  std::vector<float> pixels() const;

 private:
  struct Surface;
  std::unique_ptr<Surface> surface_;
};

}  // namespace proca::demo

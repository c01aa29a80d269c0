#pragma once

// The one place that knows cairo: fills and strokes paths, gives pixels back.

#include <cstdint>
#include <memory>
#include <vector>

#include "demo/demo_path.h"

namespace proca::demo {

/// What a path is filled or stroked with.
struct DemoPaint {
  DemoColor color;
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
class DemoCanvas {
 public:
  explicit DemoCanvas(int64_t size);
  ~DemoCanvas();
  DemoCanvas(const DemoCanvas&) = delete;
  DemoCanvas& operator=(const DemoCanvas&) = delete;

  void fill(const DemoPath& path, const DemoPaint& paint);
  /// Lines have round ends and corners.
  void stroke(const DemoPath& path, double width, const DemoPaint& paint);

  /// Channel values 0 to 255 in the order of `Image::pixels`.
  std::vector<float> pixels() const;

 private:
  struct Surface;
  std::unique_ptr<Surface> surface_;
};

}  // namespace proca::demo

#pragma once

// The geometry that the demo things are made of: paths, and parts of a thing in
// the order in which they are painted. Nothing here knows how a domain renders.
//
// A thing is described in its own coordinates, x to the right and y down, both
// about -1 to 1; `place` moves it to the pixels of a picture.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace proca::demo {

struct DemoPoint {
  double x = 0;
  double y = 0;
};

/// Where in the picture a thing stands; the default leaves it where it is.
struct DemoPose {
  DemoPoint center = {};
  double scale_x = 1;  ///< negative: mirrored
  double scale_y = 1;
  double angle = 0;  ///< radians, clockwise
  double slant = 0;  ///< x += slant * y, before turning
};

/// Lines and cubic curves, open or closed.
class DemoPath {
 public:
  enum class Verb { kMove, kLine, kCurve, kClose };
  struct Command {
    Verb verb;
    /// kMove and kLine use the first point, kCurve all three (two handles and
    /// the end), kClose none.
    std::array<DemoPoint, 3> points;
  };

  DemoPath& move_to(DemoPoint point);
  DemoPath& line_to(DemoPoint point);
  DemoPath& curve_to(DemoPoint handle1, DemoPoint handle2, DemoPoint end);
  DemoPath& close();

  static DemoPath polyline(std::initializer_list<DemoPoint> points);
  static DemoPath polygon(std::initializer_list<DemoPoint> points);
  static DemoPath rectangle(double left, double top, double right, double bottom);
  static DemoPath ellipse(DemoPoint center, double radius_x, double radius_y);
  static DemoPath circle(DemoPoint center, double radius);
  /// Angles in radians, clockwise on the screen from the x axis.
  static DemoPath arc(DemoPoint center, double radius, double from, double to);

  const std::vector<Command>& commands() const { return commands_; }
  void place(const DemoPose& pose);

 private:
  std::vector<Command> commands_;
};

/// Hue in turns (0 red, 1/3 green, 2/3 blue; any real number), the others in [0, 1].
struct DemoColor {
  double hue = 0;
  double saturation = 0;
  double lightness = 0;
};

struct DemoPart {
  enum class Kind {
    kSolid,  ///< the inside of the path
    kTube,   ///< a band of `width` along the path, with two outlines of its own
    kLine,   ///< a single stroke of the pen, for details
  };
  Kind kind;
  DemoPath path;
  DemoColor color;
  double width = 0;  ///< of a tube or line, in the coordinates of the thing
};

struct DemoShape {
  std::vector<DemoPart> parts;

  void solid(DemoPath path, DemoColor color);
  void tube(DemoPath path, double width, DemoColor color);
  void line(DemoPath path, double width, DemoColor color);

  void place(const DemoPose& pose);
};

}  // namespace proca::demo

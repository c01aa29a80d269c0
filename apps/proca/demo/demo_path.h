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

struct Point {
  double x = 0;
  double y = 0;
};

/// Where in the picture a thing stands; the default leaves it where it is.
struct Pose {
  Point center = {};
  double scale_x = 1;  ///< negative: mirrored
  double scale_y = 1;
  double angle = 0;  ///< radians, clockwise
  double slant = 0;  ///< x += slant * y, before turning
};

/// Lines and cubic curves, open or closed.
class Path {
 public:
  enum class Verb { kMove, kLine, kCurve, kClose };
  struct Command {
    Verb verb;
    /// kMove and kLine use the first point, kCurve all three (two handles and
    /// the end), kClose none.
    std::array<Point, 3> points;
  };

  Path& move_to(Point point) { return add({Verb::kMove, {point}}); }
  Path& line_to(Point point) { return add({Verb::kLine, {point}}); }
  Path& curve_to(Point handle1, Point handle2, Point end) {
    return add({Verb::kCurve, {handle1, handle2, end}});
  }
  Path& close() { return add({Verb::kClose, {}}); }

  static Path polyline(std::initializer_list<Point> points);
  static Path polygon(std::initializer_list<Point> points);
  static Path rectangle(double left, double top, double right, double bottom);
  static Path ellipse(Point center, double radius_x, double radius_y);
  static Path circle(Point center, double radius);
  /// Angles in radians, clockwise on the screen from the x axis.
  static Path arc(Point center, double radius, double from, double to);

  const std::vector<Command>& commands() const { return commands_; }
  void place(const Pose& pose);

 private:
  Path& add(const Command& command) {
    commands_.push_back(command);
    return *this;
  }

  std::vector<Command> commands_;
};

/// Hue in turns (0 red, 1/3 green, 2/3 blue; any real number), the others in [0, 1].
struct Color {
  double hue = 0;
  double saturation = 0;
  double lightness = 0;
};

struct Part {
  enum class Kind {
    kSolid,  ///< the inside of the path
    kTube,   ///< a band of `width` along the path, with two outlines of its own
    kLine,   ///< a single stroke of the pen, for details
  };
  Kind kind;
  Path path;
  Color color;
  double width = 0;  ///< of a tube or line, in the coordinates of the thing
};

struct Shape {
  std::vector<Part> parts;

  void solid(const Path& path, Color color) { parts.push_back({Part::Kind::kSolid, path, color}); }
  void tube(const Path& path, double width, Color color) {
    parts.push_back({Part::Kind::kTube, path, color, width});
  }
  void line(const Path& path, double width, Color color) {
    parts.push_back({Part::Kind::kLine, path, color, width});
  }

  void place(const Pose& pose);
};

}  // namespace proca::demo

#include "demo/demo_path.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace proca::demo {

Path Path::polyline(std::initializer_list<Point> points) {
  Path path;
  for (const auto& point : points) {
    path.commands_.empty() ? path.move_to(point) : path.line_to(point);
  }
  return path;
}

Path Path::polygon(std::initializer_list<Point> points) { return polyline(points).close(); }

Path Path::rectangle(double left, double top, double right, double bottom) {
  return polygon({{left, top}, {right, top}, {right, bottom}, {left, bottom}});
}

Path Path::ellipse(Point center, double radius_x, double radius_y) {
  Path path = arc({}, 1, 0, 2 * std::numbers::pi).close();
  path.place({.center = center, .scale_x = radius_x, .scale_y = radius_y});
  return path;
}

Path Path::circle(Point center, double radius) { return ellipse(center, radius, radius); }

Path Path::arc(Point center, double radius, double from, double to) {
  // A cubic follows a quarter of a circle to within 0.03 %; more needs more pieces.
  const int pieces =
      std::max(1, static_cast<int>(std::ceil(std::abs(to - from) / (std::numbers::pi / 2) - 1e-9)));
  const double step = (to - from) / pieces;
  const double handle = 4.0 / 3.0 * std::tan(step / 4);
  const auto at = [&](double angle, double along) {
    return Point{center.x + radius * (std::cos(angle) - along * std::sin(angle)),
                 center.y + radius * (std::sin(angle) + along * std::cos(angle))};
  };
  Path path;
  path.move_to(at(from, 0));
  for (int i = 0; i < pieces; ++i) {
    const double begin = from + i * step;
    path.curve_to(at(begin, handle), at(begin + step, -handle), at(begin + step, 0));
  }
  return path;
}

void Path::place(const Pose& pose) {
  const double cosine = std::cos(pose.angle), sine = std::sin(pose.angle);
  for (auto& command : commands_) {
    for (auto& point : command.points) {
      const double x = pose.scale_x * (point.x + pose.slant * point.y);
      const double y = pose.scale_y * point.y;
      point = {pose.center.x + cosine * x - sine * y, pose.center.y + sine * x + cosine * y};
    }
  }
}

void Shape::place(const Pose& pose) {
  for (auto& part : parts) {
    part.path.place(pose);
    part.width *= std::sqrt(std::abs(pose.scale_x * pose.scale_y));
  }
}

}  // namespace proca::demo

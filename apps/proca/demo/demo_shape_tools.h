#pragma once

// Colours and small helpers that the drawings of the things share.

#include <cmath>
#include <numbers>

#include "demo/demo_path.h"
#include "proca/core/random.h"

namespace proca::demo {

inline constexpr double kPi = std::numbers::pi;

inline constexpr Color kWhite{0, 0, 0.93};
inline constexpr Color kBlack{0, 0, 0.12};
inline constexpr Color kSteel{0.58, 0.08, 0.62};
inline constexpr Color kGlass{0.55, 0.45, 0.75};
inline constexpr Color kWood{0.07, 0.5, 0.36};
inline constexpr Color kLeaf{0.31, 0.55, 0.36};

inline bool chance(RandomStream& random, double probability) {
  return random.uniform() < probability;
}

/// A colour near `color`: things of one kind are not all painted from one pot.
inline Color vary(RandomStream& random, Color color) {
  return {color.hue + random.uniform(-0.05, 0.05), color.saturation * random.uniform(0.75, 1.25),
          color.lightness * random.uniform(0.85, 1.15)};
}

/// Paint that may have any hue.
inline Color paint(RandomStream& random) {
  return {random.uniform(), random.uniform(0.45, 0.8), random.uniform(0.38, 0.58)};
}

inline Color darker(Color color, double factor = 0.55) {
  color.lightness *= factor;
  return color;
}

inline Point polar(double radius, double angle) {
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

inline void tilt(Shape& shape, RandomStream& random, double degrees) {
  shape.place({.angle = random.uniform(-degrees, degrees) * kPi / 180});
}

}  // namespace proca::demo

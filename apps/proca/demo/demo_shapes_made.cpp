// The things of the demo data that people make.

#include "demo/demo_shape_tools.h"
#include "demo/demo_shapes.h"

namespace proca::demo {
namespace {

void draw_boat(Shape& shape, RandomStream& random) {
  const double width = random.uniform(0.7, 0.95), deck = random.uniform(0.3, 0.45);
  const double sail = random.uniform(0.55, 0.8), jib = random.uniform(0.4, 0.7);
  const double top = random.uniform(-0.95, -0.8);
  shape.line(Path::polyline({{0, deck}, {0, top}}), 0.08, kWood);
  const Color cloth = chance(random, 0.6) ? kWhite : paint(random);
  shape.solid(Path::polygon({{0.05, top + 0.05}, {0.05, deck - 0.12}, {sail, deck - 0.12}}), cloth);
  shape.solid(Path::polygon({{-0.06, top + 0.25}, {-0.06, deck - 0.12}, {-jib, deck - 0.12}}),
              chance(random, 0.5) ? cloth : paint(random));
  shape.solid(Path()
                  .move_to({-width, deck})
                  .line_to({width, deck})
                  .curve_to({width * 0.9, 0.7}, {width * 0.7, 0.85}, {width * 0.5, 0.85})
                  .line_to({-width * 0.5, 0.85})
                  .curve_to({-width * 0.7, 0.85}, {-width * 0.9, 0.7}, {-width, deck})
                  .close(),
              paint(random));
}

void draw_car(Shape& shape, RandomStream& random) {
  const Color color = paint(random);
  const double roof = random.uniform(-0.6, -0.42), belt = random.uniform(-0.12, 0);
  const double front = random.uniform(0.5, 0.72), rear = random.uniform(-0.8, -0.55);
  const double wheel = random.uniform(0.2, 0.27), axle = random.uniform(0.48, 0.58);
  shape.solid(Path::polygon({{rear, belt}, {rear + 0.2, roof}, {0.28, roof}, {front, belt}}),
              color);
  shape.solid(
      Path::polygon(
          {{rear + 0.16, belt}, {rear + 0.28, roof + 0.1}, {-0.12, roof + 0.1}, {-0.12, belt}}),
      kGlass);
  shape.solid(
      Path::polygon({{0.0, belt}, {0.0, roof + 0.1}, {0.24, roof + 0.1}, {front - 0.16, belt}}),
      kGlass);
  shape.solid(Path()
                  .move_to({-0.95, belt})
                  .line_to({0.7, belt})
                  .curve_to({0.95, belt + 0.03}, {0.98, belt + 0.2}, {0.98, 0.42})
                  .line_to({-0.98, 0.42})
                  .close(),
              color);
  for (const double x : {-axle, axle}) {
    shape.solid(Path::circle({x, 0.42}, wheel), kBlack);
    shape.solid(Path::circle({x, 0.42}, wheel * 0.45), kSteel);
  }
}

void draw_clock(Shape& shape, RandomStream& random) {
  const Color rim = paint(random);
  const bool alarm = chance(random, 0.5);
  if (alarm) {
    for (const double side : {-1.0, 1.0}) {
      shape.solid(Path::circle({side * 0.55, -0.72}, 0.25), darker(rim, 0.8));
      shape.line(Path::polyline({{side * 0.45, 0.6}, {side * 0.65, 0.95}}), 0.12, kBlack);
    }
  }
  const double radius = alarm ? 0.78 : 0.92, face = radius * random.uniform(0.78, 0.86);
  shape.solid(Path::circle({}, radius), rim);
  shape.solid(Path::circle({}, face), kWhite);
  for (int hour = 0; hour < 12; hour += 3) {
    const Point from = polar(face * 0.78, hour * kPi / 6);
    shape.line(Path::polyline({from, polar(face * 0.95, hour * kPi / 6)}), 0.08, kBlack);
  }
  const double hour = random.uniform(0, 2 * kPi), minute = hour + random.uniform(0.8, 5.4);
  shape.line(Path::polyline({polar(face * 0.5, hour), {}, polar(face * 0.72, minute)}), 0.1,
             kBlack);
}

void draw_cup(Shape& shape, RandomStream& random) {
  const Color color = chance(random, 0.3) ? kWhite : paint(random);
  const double top = random.uniform(0.5, 0.65), bottom = top * random.uniform(0.65, 0.95);
  const double rim = random.uniform(-0.62, -0.45), base = random.uniform(0.6, 0.8);
  const double handle = random.uniform(0.26, 0.36), depth = random.uniform(0.12, 0.2);
  const Point grip{(top + bottom) / 2 - 0.02, (rim + base) / 2 - 0.05};
  shape.tube(Path::arc(grip, handle, -kPi / 2, kPi / 2), 0.15, darker(color, 0.85));
  shape.solid(
      Path()
          .move_to({-top, rim})
          .line_to({-bottom, base})
          .curve_to({-bottom * 0.6, base + 0.14}, {bottom * 0.6, base + 0.14}, {bottom, base})
          .line_to({top, rim})
          .close(),
      color);
  shape.solid(Path::ellipse({0, rim}, top, depth), darker(color, 0.5));
  if (chance(random, 0.5)) {
    for (const double x : {-0.2, 0.2}) {
      const double high = rim - depth;
      shape.line(Path()
                     .move_to({x, high - 0.05})
                     .curve_to({x - 0.15, high - 0.2}, {x + 0.15, high - 0.25}, {x, high - 0.4}),
                 0.07, kWhite);
    }
  }
}

void draw_envelope(Shape& shape, RandomStream& random) {
  const Color color =
      chance(random, 0.6) ? Color{0.11, random.uniform(0.2, 0.5), 0.78} : paint(random);
  const double height = random.uniform(0.5, 0.72), tip = random.uniform(0.0, 0.25);
  shape.solid(Path::rectangle(-0.95, -height, 0.95, height), color);
  const Color fold = darker(color, 0.6);
  if (chance(random, 0.6)) {
    shape.line(Path::polyline({{-0.95, height}, {-0.25, 0}}), 0.06, fold);
    shape.line(Path::polyline({{0.95, height}, {0.25, 0}}), 0.06, fold);
  }
  shape.solid(Path::polygon({{-0.95, -height}, {0.95, -height}, {0, tip}}), darker(color, 0.85));
  if (chance(random, 0.4)) shape.solid(Path::circle({0, tip}, 0.14), {0, 0.7, 0.45});
}

void draw_glasses(Shape& shape, RandomStream& random) {
  const Color frame = chance(random, 0.5) ? kBlack : paint(random);
  const Color lens = chance(random, 0.7) ? kGlass : Color{0.6, 0.2, 0.25};
  const double radius = random.uniform(0.32, 0.38), height = radius * random.uniform(0.75, 1.1);
  const double center = random.uniform(0.46, 0.5), rise = random.uniform(0.3, 0.55);
  for (const double side : {-1.0, 1.0}) {
    const double edge = side * (center + radius);
    shape.line(Path::polyline({{edge, -0.05}, {side * 0.97, -rise * 0.6}, {side * 0.8, -rise}}),
               0.09, frame);
    const auto outline = Path::ellipse({side * center, 0.1}, radius, height);
    shape.solid(outline, lens);
    shape.tube(outline, 0.1, frame);
  }
  const double gap = center - radius;
  shape.line(Path().move_to({-gap, 0.05}).curve_to({-gap, -0.12}, {gap, -0.12}, {gap, 0.05}), 0.1,
             frame);
}

void draw_hammer(Shape& shape, RandomStream& random) {
  const double grip = random.uniform(0.09, 0.13), head = random.uniform(0.16, 0.22);
  const double face = random.uniform(0.45, 0.58), claw = random.uniform(0.5, 0.65);
  const Color metal = vary(random, kSteel);
  const Color handle = chance(random, 0.6) ? vary(random, kWood) : paint(random);
  shape.solid(Path::rectangle(-grip, -0.6, grip, 0.97), handle);
  shape.solid(Path()
                  .move_to({face, -0.65 - head})
                  .line_to({face, -0.65 + head})
                  .line_to({-0.15, -0.65 + head * 0.8})
                  .curve_to({-0.35, -0.65 + head * 0.6}, {-claw, -0.6}, {-claw - 0.15, -0.38})
                  .curve_to({-claw, -0.8}, {-0.4, -0.65 - head}, {-0.15, -0.65 - head * 0.8})
                  .close(),
              metal);
  shape.line(Path::polyline({{face - 0.15, -0.65 - head}, {face - 0.15, -0.65 + head}}), 0.05,
             darker(metal));
  tilt(shape, random, 40);
}

void draw_house(Shape& shape, RandomStream& random) {
  const double width = random.uniform(0.6, 0.78), eaves = random.uniform(-0.2, 0.0);
  const double ridge = random.uniform(-0.95, -0.75), over = random.uniform(0.08, 0.2);
  const double flat = chance(random, 0.3) ? 0.3 : 0.0;
  const Color wall{random.uniform(0, 0.2), random.uniform(0.15, 0.5), random.uniform(0.6, 0.8)};
  const Color roof = chance(random, 0.6) ? Color{0.02, 0.6, 0.38} : darker(paint(random), 0.8);
  if (chance(random, 0.6)) {
    shape.solid(Path::rectangle(width * 0.4, ridge + 0.05, width * 0.4 + 0.2, eaves), kWood);
  }
  shape.solid(Path::rectangle(-width, eaves, width, 0.88), wall);
  shape.solid(
      Path::polygon({{-width - over, eaves}, {-flat, ridge}, {flat, ridge}, {width + over, eaves}}),
      roof);
  const double door = random.uniform(-0.35, 0.0);
  shape.solid(Path::rectangle(door - 0.15, 0.35, door + 0.15, 0.88), darker(paint(random), 0.7));
  const double window = random.uniform(0.3, 0.36), sill = random.uniform(0.4, 0.55);
  shape.solid(Path::rectangle(window - 0.16, sill - 0.3, window + 0.16, sill), kGlass);
}

void draw_key(Shape& shape, RandomStream& random) {
  const Color metal =
      chance(random, 0.6) ? Color{0.12, random.uniform(0.5, 0.8), 0.45} : vary(random, kSteel);
  const double bow = random.uniform(0.25, 0.34), tooth = random.uniform(0.24, 0.36);
  const auto teeth = 2 + random.uniform_int(2);
  const double neck = -0.9 + 2 * bow;
  shape.solid(Path::rectangle(neck, -0.07, 0.95, 0.07), metal);
  for (int64_t i = 0; i < teeth; ++i) {
    const double x = 0.86 - 0.22 * static_cast<double>(i);
    shape.solid(Path::rectangle(x - 0.07, 0.05, x + 0.07, tooth - 0.04 * static_cast<double>(i)),
                metal);
  }
  shape.tube(Path::circle({-0.9 + bow, 0}, bow), 0.18, metal);
  tilt(shape, random, 40);
}

void draw_umbrella(Shape& shape, RandomStream& random) {
  const Color cloth = paint(random);
  const double brim = random.uniform(-0.1, 0.05), top = random.uniform(-1.2, -0.95);
  const double hook = random.uniform(0.13, 0.18), foot = random.uniform(0.7, 0.8);
  shape.line(Path::polyline({{0, -0.95}, {0, foot}}), 0.1, kBlack);
  shape.line(Path::arc({hook, foot}, hook, kPi, 0), 0.1, kWood);
  Path canopy;
  canopy.move_to({-0.95, brim}).curve_to({-0.8, top}, {0.8, top}, {0.95, brim});
  // Scallops, from right to left.
  for (int i = 0; i < 3; ++i) {
    const double right = 0.95 - i * 1.9 / 3, left = right - 1.9 / 3;
    canopy.curve_to({right - 0.12, brim - 0.22}, {left + 0.12, brim - 0.22}, {left, brim});
  }
  shape.solid(canopy.close(), cloth);
  for (const double side : {-1.0, 1.0}) {
    shape.line(Path()
                   .move_to({side * 0.3167, brim})
                   .curve_to({side * 0.3, brim - 0.4}, {side * 0.15, brim - 0.6}, {0, -0.75}),
               0.05, darker(cloth));
  }
  tilt(shape, random, 20);
}

}  // namespace

std::vector<DemoClass> made_things() {
  return {{"boat", draw_boat},        {"car", draw_car},           {"clock", draw_clock},
          {"cup", draw_cup},          {"envelope", draw_envelope}, {"glasses", draw_glasses},
          {"hammer", draw_hammer},    {"house", draw_house},       {"key", draw_key},
          {"umbrella", draw_umbrella}};
}

}  // namespace proca::demo

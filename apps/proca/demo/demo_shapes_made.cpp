// The things of the demo data that people make.

#include "demo/demo_shape_tools.h"
#include "demo/demo_shapes.h"

namespace proca::demo {

DemoShape draw_boat(RandomStream& random) {
  DemoShape shape;
  const double width = random.uniform(0.7, 0.95), deck = random.uniform(0.3, 0.45);
  const double sail = random.uniform(0.55, 0.8), jib = random.uniform(0.4, 0.7);
  const double top = random.uniform(-0.95, -0.8);
  shape.line(DemoPath::polyline({{0, deck}, {0, top}}), 0.08, kWood);
  const DemoColor cloth = chance(random, 0.6) ? kWhite : paint(random);
  shape.solid(DemoPath::polygon({{0.05, top + 0.05}, {0.05, deck - 0.12}, {sail, deck - 0.12}}),
              cloth);
  shape.solid(DemoPath::polygon({{-0.06, top + 0.25}, {-0.06, deck - 0.12}, {-jib, deck - 0.12}}),
              chance(random, 0.5) ? cloth : paint(random));
  shape.solid(DemoPath()
                  .move_to({-width, deck})
                  .line_to({width, deck})
                  .curve_to({width * 0.9, 0.7}, {width * 0.7, 0.85}, {width * 0.5, 0.85})
                  .line_to({-width * 0.5, 0.85})
                  .curve_to({-width * 0.7, 0.85}, {-width * 0.9, 0.7}, {-width, deck})
                  .close(),
              paint(random));
  return shape;
}

DemoShape draw_car(RandomStream& random) {
  DemoShape shape;
  const DemoColor color = paint(random);
  const double roof = random.uniform(-0.6, -0.42), belt = random.uniform(-0.12, 0);
  const double front = random.uniform(0.5, 0.72), rear = random.uniform(-0.8, -0.55);
  const double wheel = random.uniform(0.2, 0.27), axle = random.uniform(0.48, 0.58);
  shape.solid(DemoPath::polygon({{rear, belt}, {rear + 0.2, roof}, {0.28, roof}, {front, belt}}),
              color);
  shape.solid(
      DemoPath::polygon(
          {{rear + 0.16, belt}, {rear + 0.28, roof + 0.1}, {-0.12, roof + 0.1}, {-0.12, belt}}),
      kGlass);
  shape.solid(
      DemoPath::polygon({{0.0, belt}, {0.0, roof + 0.1}, {0.24, roof + 0.1}, {front - 0.16, belt}}),
      kGlass);
  shape.solid(DemoPath()
                  .move_to({-0.95, belt})
                  .line_to({0.7, belt})
                  .curve_to({0.95, belt + 0.03}, {0.98, belt + 0.2}, {0.98, 0.42})
                  .line_to({-0.98, 0.42})
                  .close(),
              color);
  for (const double x : {-axle, axle}) {
    shape.solid(DemoPath::circle({x, 0.42}, wheel), kBlack);
    shape.solid(DemoPath::circle({x, 0.42}, wheel * 0.45), kSteel);
  }
  return shape;
}

DemoShape draw_clock(RandomStream& random) {
  DemoShape shape;
  const DemoColor rim = paint(random);
  const bool alarm = chance(random, 0.5);
  if (alarm) {
    for (const double side : {-1.0, 1.0}) {
      shape.solid(DemoPath::circle({side * 0.55, -0.72}, 0.25), darker(rim, 0.8));
      shape.line(DemoPath::polyline({{side * 0.45, 0.6}, {side * 0.65, 0.95}}), 0.12, kBlack);
    }
  }
  const double radius = alarm ? 0.78 : 0.92, face = radius * random.uniform(0.78, 0.86);
  shape.solid(DemoPath::circle({}, radius), rim);
  shape.solid(DemoPath::circle({}, face), kWhite);
  for (int hour = 0; hour < 12; hour += 3) {
    const DemoPoint from = polar(face * 0.78, hour * kPi / 6);
    shape.line(DemoPath::polyline({from, polar(face * 0.95, hour * kPi / 6)}), 0.08, kBlack);
  }
  const double hour = random.uniform(0, 2 * kPi), minute = hour + random.uniform(0.8, 5.4);
  shape.line(DemoPath::polyline({polar(face * 0.5, hour), {}, polar(face * 0.72, minute)}), 0.1,
             kBlack);
  return shape;
}

DemoShape draw_cup(RandomStream& random) {
  DemoShape shape;
  const DemoColor color = chance(random, 0.3) ? kWhite : paint(random);
  const double top = random.uniform(0.5, 0.65), bottom = top * random.uniform(0.65, 0.95);
  const double rim = random.uniform(-0.62, -0.45), base = random.uniform(0.6, 0.8);
  const double handle = random.uniform(0.26, 0.36), depth = random.uniform(0.12, 0.2);
  const DemoPoint grip{(top + bottom) / 2 - 0.02, (rim + base) / 2 - 0.05};
  shape.tube(DemoPath::arc(grip, handle, -kPi / 2, kPi / 2), 0.15, darker(color, 0.85));
  shape.solid(
      DemoPath()
          .move_to({-top, rim})
          .line_to({-bottom, base})
          .curve_to({-bottom * 0.6, base + 0.14}, {bottom * 0.6, base + 0.14}, {bottom, base})
          .line_to({top, rim})
          .close(),
      color);
  shape.solid(DemoPath::ellipse({0, rim}, top, depth), darker(color, 0.5));
  if (chance(random, 0.5)) {
    for (const double x : {-0.2, 0.2}) {
      const double high = rim - depth;
      shape.line(DemoPath()
                     .move_to({x, high - 0.05})
                     .curve_to({x - 0.15, high - 0.2}, {x + 0.15, high - 0.25}, {x, high - 0.4}),
                 0.07, kWhite);
    }
  }
  return shape;
}

DemoShape draw_envelope(RandomStream& random) {
  DemoShape shape;
  const DemoColor color =
      chance(random, 0.6) ? DemoColor{0.11, random.uniform(0.2, 0.5), 0.78} : paint(random);
  const double height = random.uniform(0.5, 0.72), tip = random.uniform(0.0, 0.25);
  shape.solid(DemoPath::rectangle(-0.95, -height, 0.95, height), color);
  const DemoColor fold = darker(color, 0.6);
  if (chance(random, 0.6)) {
    shape.line(DemoPath::polyline({{-0.95, height}, {-0.25, 0}}), 0.06, fold);
    shape.line(DemoPath::polyline({{0.95, height}, {0.25, 0}}), 0.06, fold);
  }
  shape.solid(DemoPath::polygon({{-0.95, -height}, {0.95, -height}, {0, tip}}),
              darker(color, 0.85));
  if (chance(random, 0.4)) shape.solid(DemoPath::circle({0, tip}, 0.14), {0, 0.7, 0.45});
  return shape;
}

DemoShape draw_glasses(RandomStream& random) {
  DemoShape shape;
  const DemoColor frame = chance(random, 0.5) ? kBlack : paint(random);
  const DemoColor lens = chance(random, 0.7) ? kGlass : DemoColor{0.6, 0.2, 0.25};
  const double radius = random.uniform(0.32, 0.38), height = radius * random.uniform(0.75, 1.1);
  const double center = random.uniform(0.46, 0.5), rise = random.uniform(0.3, 0.55);
  for (const double side : {-1.0, 1.0}) {
    const double edge = side * (center + radius);
    shape.line(DemoPath::polyline({{edge, -0.05}, {side * 0.97, -rise * 0.6}, {side * 0.8, -rise}}),
               0.09, frame);
    const auto outline = DemoPath::ellipse({side * center, 0.1}, radius, height);
    shape.solid(outline, lens);
    shape.tube(outline, 0.1, frame);
  }
  const double gap = center - radius;
  shape.line(DemoPath().move_to({-gap, 0.05}).curve_to({-gap, -0.12}, {gap, -0.12}, {gap, 0.05}),
             0.1, frame);
  return shape;
}

DemoShape draw_hammer(RandomStream& random) {
  DemoShape shape;
  const double grip = random.uniform(0.09, 0.13), head = random.uniform(0.16, 0.22);
  const double face = random.uniform(0.45, 0.58), claw = random.uniform(0.5, 0.65);
  const DemoColor metal = vary(random, kSteel);
  const DemoColor handle = chance(random, 0.6) ? vary(random, kWood) : paint(random);
  shape.solid(DemoPath::rectangle(-grip, -0.6, grip, 0.97), handle);
  shape.solid(DemoPath()
                  .move_to({face, -0.65 - head})
                  .line_to({face, -0.65 + head})
                  .line_to({-0.15, -0.65 + head * 0.8})
                  .curve_to({-0.35, -0.65 + head * 0.6}, {-claw, -0.6}, {-claw - 0.15, -0.38})
                  .curve_to({-claw, -0.8}, {-0.4, -0.65 - head}, {-0.15, -0.65 - head * 0.8})
                  .close(),
              metal);
  shape.line(DemoPath::polyline({{face - 0.15, -0.65 - head}, {face - 0.15, -0.65 + head}}), 0.05,
             darker(metal));
  tilt(shape, random, 40);
  return shape;
}

DemoShape draw_house(RandomStream& random) {
  DemoShape shape;
  const double width = random.uniform(0.6, 0.78), eaves = random.uniform(-0.2, 0.0);
  const double ridge = random.uniform(-0.95, -0.75), over = random.uniform(0.08, 0.2);
  const double flat = chance(random, 0.3) ? 0.3 : 0.0;
  const DemoColor wall{random.uniform(0, 0.2), random.uniform(0.15, 0.5), random.uniform(0.6, 0.8)};
  const DemoColor roof =
      chance(random, 0.6) ? DemoColor{0.02, 0.6, 0.38} : darker(paint(random), 0.8);
  if (chance(random, 0.6)) {
    shape.solid(DemoPath::rectangle(width * 0.4, ridge + 0.05, width * 0.4 + 0.2, eaves), kWood);
  }
  shape.solid(DemoPath::rectangle(-width, eaves, width, 0.88), wall);
  shape.solid(DemoPath::polygon(
                  {{-width - over, eaves}, {-flat, ridge}, {flat, ridge}, {width + over, eaves}}),
              roof);
  const double door = random.uniform(-0.35, 0.0);
  shape.solid(DemoPath::rectangle(door - 0.15, 0.35, door + 0.15, 0.88),
              darker(paint(random), 0.7));
  const double window = random.uniform(0.3, 0.36), sill = random.uniform(0.4, 0.55);
  shape.solid(DemoPath::rectangle(window - 0.16, sill - 0.3, window + 0.16, sill), kGlass);
  return shape;
}

DemoShape draw_key(RandomStream& random) {
  DemoShape shape;
  const DemoColor metal =
      chance(random, 0.6) ? DemoColor{0.12, random.uniform(0.5, 0.8), 0.45} : vary(random, kSteel);
  const double bow = random.uniform(0.25, 0.34), tooth = random.uniform(0.24, 0.36);
  const auto teeth = 2 + random.uniform_int(2);
  const double neck = -0.9 + 2 * bow;
  shape.solid(DemoPath::rectangle(neck, -0.07, 0.95, 0.07), metal);
  for (int64_t i = 0; i < teeth; ++i) {
    const double x = 0.86 - 0.22 * static_cast<double>(i);
    shape.solid(
        DemoPath::rectangle(x - 0.07, 0.05, x + 0.07, tooth - 0.04 * static_cast<double>(i)),
        metal);
  }
  shape.tube(DemoPath::circle({-0.9 + bow, 0}, bow), 0.18, metal);
  tilt(shape, random, 40);
  return shape;
}

DemoShape draw_umbrella(RandomStream& random) {
  DemoShape shape;
  const DemoColor cloth = paint(random);
  const double brim = random.uniform(-0.1, 0.05), top = random.uniform(-1.2, -0.95);
  const double hook = random.uniform(0.13, 0.18), foot = random.uniform(0.7, 0.8);
  shape.line(DemoPath::polyline({{0, -0.95}, {0, foot}}), 0.1, kBlack);
  shape.line(DemoPath::arc({hook, foot}, hook, kPi, 0), 0.1, kWood);
  DemoPath canopy;
  canopy.move_to({-0.95, brim}).curve_to({-0.8, top}, {0.8, top}, {0.95, brim});
  // Scallops, from right to left.
  for (int i = 0; i < 3; ++i) {
    const double right = 0.95 - i * 1.9 / 3, left = right - 1.9 / 3;
    canopy.curve_to({right - 0.12, brim - 0.22}, {left + 0.12, brim - 0.22}, {left, brim});
  }
  shape.solid(canopy.close(), cloth);
  for (const double side : {-1.0, 1.0}) {
    shape.line(DemoPath()
                   .move_to({side * 0.3167, brim})
                   .curve_to({side * 0.3, brim - 0.4}, {side * 0.15, brim - 0.6}, {0, -0.75}),
               0.05, darker(cloth));
  }
  tilt(shape, random, 20);
  return shape;
}

}  // namespace proca::demo

// The things of the demo data that grow, swim or shine.

#include "demo/demo_shape_tools.h"
#include "demo/demo_shapes.h"

namespace proca::demo {
namespace {

void draw_fish(Shape& shape, RandomStream& random) {
  const Color color = paint(random);
  const double height = random.uniform(0.42, 0.62), tail = random.uniform(0.32, 0.48);
  const double root = random.uniform(0.45, 0.55);
  shape.solid(Path::polygon({{root - 0.15, 0}, {0.97, -tail}, {0.82, 0}, {0.97, tail}}),
              darker(color, 0.8));
  shape.solid(Path::polygon({{-0.3, -height * 0.7}, {0.1, -height - 0.22}, {0.3, -height * 0.5}}),
              darker(color, 0.8));
  shape.solid(Path()
                  .move_to({-0.97, 0})
                  .curve_to({-0.6, -height * 1.35}, {0.1, -height * 1.2}, {root, 0})
                  .curve_to({0.1, height * 1.2}, {-0.6, height * 1.35}, {-0.97, 0})
                  .close(),
              color);
  shape.line(Path::arc({-0.62, 0}, 0.32, -kPi / 3.2, kPi / 3.2), 0.06, darker(color));
  shape.solid(Path::circle({-0.62, -0.1}, 0.09), kBlack);
  if (chance(random, 0.5)) {
    shape.line(Path::arc({-0.2, 0}, 0.3, -kPi / 4, kPi / 4), 0.06, darker(color));
  }
}

void draw_flower(Shape& shape, RandomStream& random) {
  const auto petals = static_cast<int>(5 + random.uniform_int(3));
  const double size = random.uniform(0.19, 0.24), ring = random.uniform(0.34, 0.4);
  const double turn = random.uniform(0, kPi), bend = random.uniform(-0.2, 0.2);
  const Point head{0, -0.38};
  const Color stem = vary(random, kLeaf), petal = paint(random);
  shape.line(Path().move_to(head).curve_to({0, 0.2}, {bend, 0.6}, {bend, 0.97}), 0.1, stem);
  const double side = chance(random, 0.5) ? 1 : -1;
  shape.solid(Path()
                  .move_to({bend * 0.7, 0.72})
                  .curve_to({side * 0.15, 0.3}, {side * 0.5, 0.3}, {side * 0.6, 0.38})
                  .curve_to({side * 0.5, 0.65}, {side * 0.3, 0.75}, {bend * 0.7, 0.72})
                  .close(),
              stem);
  for (int i = 0; i < petals; ++i) {
    const Point out = polar(ring, turn + 2 * kPi * i / petals);
    shape.solid(Path::circle({head.x + out.x, head.y + out.y}, size), petal);
  }
  shape.solid(Path::circle(head, random.uniform(0.17, 0.22)), {0.13, 0.85, 0.5});
}

void draw_heart(Shape& shape, RandomStream& random) {
  const double width = random.uniform(0.85, 1.0), notch = random.uniform(-0.5, -0.35);
  const double top = random.uniform(-1.05, -0.9), cheek = random.uniform(0.05, 0.2);
  shape.solid(Path()
                  .move_to({0, notch})
                  .curve_to({0.15, top}, {width, top}, {width, notch + 0.1})
                  .curve_to({width, cheek}, {0.35, 0.55}, {0, 0.9})
                  .curve_to({-0.35, 0.55}, {-width, cheek}, {-width, notch + 0.1})
                  .curve_to({-width, top}, {-0.15, top}, {0, notch})
                  .close(),
              {random.uniform(-0.12, 0.04), random.uniform(0.6, 0.85), random.uniform(0.4, 0.58)});
  tilt(shape, random, 15);
}

void draw_mushroom(Shape& shape, RandomStream& random) {
  const double width = random.uniform(0.75, 0.95), brim = random.uniform(0.0, 0.2);
  const double top = random.uniform(-1.35, -1.0), stem = random.uniform(0.2, 0.32);
  const Color cap{random.uniform(-0.04, 0.1), random.uniform(0.5, 0.8), random.uniform(0.35, 0.5)};
  shape.solid(Path()
                  .move_to({-stem, brim})
                  .curve_to({-stem, 0.5}, {-stem * 1.4, 0.6}, {-stem * 1.4, 0.85})
                  .curve_to({-stem, 0.97}, {stem, 0.97}, {stem * 1.4, 0.85})
                  .curve_to({stem * 1.4, 0.6}, {stem, 0.5}, {stem, brim})
                  .close(),
              {0.1, 0.25, 0.8});
  shape.solid(Path()
                  .move_to({-width, brim})
                  .curve_to({-width, top}, {width, top}, {width, brim})
                  .curve_to({width * 0.5, brim + 0.15}, {-width * 0.5, brim + 0.15}, {-width, brim})
                  .close(),
              cap);
  const double shift = random.uniform(-0.1, 0.1);
  for (const Point spot : {Point{-0.45, -0.2}, {0.02, -0.5}, {0.42, -0.18}, {0, -0.08}}) {
    shape.solid(Path::circle({spot.x + shift, spot.y + brim}, random.uniform(0.09, 0.15)), kWhite);
  }
}

void draw_star(Shape& shape, RandomStream& random) {
  const double inner = random.uniform(0.38, 0.5);
  Path outline;
  for (int i = 0; i < 10; ++i) {
    const Point corner = polar(i % 2 == 0 ? 0.97 : inner, (i * 0.2 - 0.5) * kPi);
    i == 0 ? outline.move_to(corner) : outline.line_to(corner);
  }
  const Color color =
      chance(random, 0.6) ? Color{0.14, random.uniform(0.6, 0.9), 0.52} : paint(random);
  shape.solid(outline.close(), color);
  tilt(shape, random, 20);
}

void draw_tree(Shape& shape, RandomStream& random) {
  const double trunk = random.uniform(0.1, 0.16), width = random.uniform(0.55, 0.75);
  const Color green = vary(random, kLeaf);
  shape.solid(Path::rectangle(-trunk, 0.4, trunk, 0.97), vary(random, kWood));
  for (int i = 0; i < 3; ++i) {
    const double base = 0.55 - 0.42 * i, half = width * (1 - 0.22 * i);
    shape.solid(Path::polygon({{-half, base}, {half, base}, {0, base - 0.72}}), green);
  }
}

}  // namespace

std::vector<DemoClass> natural_things() {
  return {{"fish", draw_fish},         {"flower", draw_flower}, {"heart", draw_heart},
          {"mushroom", draw_mushroom}, {"star", draw_star},     {"tree", draw_tree}};
}

}  // namespace proca::demo

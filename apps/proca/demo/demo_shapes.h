#pragma once

// What the things of the demo data look like. Proportions, counts and details
// vary within a class; what a person would call the thing by never does.

#include <vector>

#include "demo/demo_path.h"
#include "proca/core/random.h"

namespace proca::demo {

// Each draws one thing in its own coordinates: its proportions, its optional
// details, its own tilt and its natural colours come from `random`.
DemoShape draw_boat(RandomStream& random);
DemoShape draw_car(RandomStream& random);
DemoShape draw_clock(RandomStream& random);
DemoShape draw_cup(RandomStream& random);
DemoShape draw_envelope(RandomStream& random);
DemoShape draw_fish(RandomStream& random);
DemoShape draw_flower(RandomStream& random);
DemoShape draw_glasses(RandomStream& random);
DemoShape draw_hammer(RandomStream& random);
DemoShape draw_heart(RandomStream& random);
DemoShape draw_house(RandomStream& random);
DemoShape draw_key(RandomStream& random);
DemoShape draw_mushroom(RandomStream& random);
DemoShape draw_star(RandomStream& random);
DemoShape draw_tree(RandomStream& random);
DemoShape draw_umbrella(RandomStream& random);

struct DemoClass {
  const char* name;
  DemoShape (*draw)(RandomStream& random);
};

/// Every class of the demo data, in alphabetical order.
const std::vector<DemoClass>& demo_classes();

}  // namespace proca::demo

#pragma once

// What the things of the demo data look like. Proportions, counts and details
// vary within a class; what a person would call the thing by never does.

#include <vector>

#include "demo/demo_path.h"
#include "proca/core/random.h"

namespace proca::demo {

struct DemoClass {
  const char* name;
  /// Draws a thing in its own coordinates: its proportions, optional details, tilt and
  /// natural colours come from `random`.
  void (*draw)(Shape& shape, RandomStream& random);
};

std::vector<DemoClass> made_things();
std::vector<DemoClass> natural_things();

/// Every class of the demo data, in alphabetical order.
const std::vector<DemoClass>& demo_classes();

}  // namespace proca::demo

#pragma once

#include <string>
#include <vector>

#include "demo_path.h"
#include "proca/core/random.h"

namespace proca::data {

/// Draws one thing of a class in its own coordinates: its proportions, its
/// optional details, its own tilt and its natural colours come from `random`.
using DemoShapeFunction = DemoShape (*)(RandomStream& random);

struct DemoClass {
  const char* name;
  DemoShapeFunction draw;
};

/// Every class of the demo data, in alphabetical order.
const std::vector<DemoClass>& demo_classes();

}  // namespace proca::data

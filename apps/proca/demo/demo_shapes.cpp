#include "demo/demo_shapes.h"

namespace proca::demo {

const std::vector<DemoClass>& demo_classes() {
  static const std::vector<DemoClass> classes = {
      {"boat", draw_boat},         {"car", draw_car},           {"clock", draw_clock},
      {"cup", draw_cup},           {"envelope", draw_envelope}, {"fish", draw_fish},
      {"flower", draw_flower},     {"glasses", draw_glasses},   {"hammer", draw_hammer},
      {"heart", draw_heart},       {"house", draw_house},       {"key", draw_key},
      {"mushroom", draw_mushroom}, {"star", draw_star},         {"tree", draw_tree},
      {"umbrella", draw_umbrella},
  };
  return classes;
}

}  // namespace proca::demo

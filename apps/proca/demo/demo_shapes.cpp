#include "demo/demo_shapes.h"

#include <algorithm>
#include <string_view>

namespace proca::demo {

const std::vector<DemoClass>& demo_classes() {
  static const auto classes = [] {
    auto all = made_things();
    for (const auto& thing : natural_things()) all.push_back(thing);
    std::ranges::sort(all, {}, [](const DemoClass& thing) { return std::string_view(thing.name); });
    return all;
  }();
  return classes;
}

}  // namespace proca::demo

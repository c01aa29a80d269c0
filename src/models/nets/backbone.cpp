#include "proca/models/backbone.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nearest_word.h"
#include "models/nets/resnet.h"
#include "models/nets/script_backbone.h"
#include "proca/core/error.h"

namespace proca::models {
namespace {

constexpr std::string_view kScriptPrefix = "script:";

const std::vector<ResNetLayout>& layouts() {
  using enum BlockKind;
  using enum StemKind;
  static const std::vector<int64_t> widths = {64, 128, 256, 512};
  static const std::vector<ResNetLayout> table = {
      {"resnet18", kLarge, kBasic, {2, 2, 2, 2}, widths},
      {"resnet34", kLarge, kBasic, {3, 4, 6, 3}, widths},
      {"resnet50", kLarge, kBottleneck, {3, 4, 6, 3}, widths},
      {"resnet101", kLarge, kBottleneck, {3, 4, 23, 3}, widths},
      {"resnet152", kLarge, kBottleneck, {3, 8, 36, 3}, widths},
      {"resnet-small", kSmall, kBasic, {2, 2, 2}, {16, 32, 64}},
  };
  return table;
}

}  // namespace

torch::Tensor Backbone::forward_groups(const torch::Tensor& /*images*/,
                                       at::IntArrayRef /*group_sizes*/) {
  TORCH_CHECK(false, "this backbone has no forward for several groups");
}

ResNetLayout resnet_layout(const std::string& name, StrideIn stride_in) {
  for (ResNetLayout layout : layouts()) {
    if (layout.name != name) continue;
    layout.stride_in = stride_in;
    return layout;
  }
  const auto known = backbone_names();
  const auto nearest = nearest_word(name, known);
  throw InvalidOption(
      fmt::format("unknown backbone '{}'{}; known are {} and script:FILE", name,
                  nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest),
                  fmt::join(known, ", ")));
}

std::vector<std::string> backbone_names() {
  std::vector<std::string> names;
  for (const auto& layout : layouts()) names.push_back(layout.name);
  return names;
}

std::shared_ptr<Backbone> make_backbone(const BackboneOptions& options) {
  if (options.name.starts_with(kScriptPrefix)) {
    return std::make_shared<ScriptBackbone>(options.name.substr(kScriptPrefix.size()));
  }
  return std::make_shared<ResNet>(resnet_layout(options.name, options.stride_in), options.seed);
}

}  // namespace proca::models

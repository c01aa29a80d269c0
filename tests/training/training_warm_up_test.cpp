#include "training/training_warm_up.h"

#include <gtest/gtest.h>

#include "support/fake_step.h"

namespace proca::training {
namespace {

// On a CPU, where it is no use, but the same code.
class WarmUpIterationTest : public ::testing::TestWithParam<methods::MethodSpec> {
 protected:
  static constexpr int64_t kClasses = 4;

  static std::map<std::string, double> warm_up() {
    OptionSet options;
    WarmUpSetup setup{.build_network = [] { return test::small_network(kClasses); },
                      .build_method = GetParam().configure(options),
                      .recipe = GetParam().recipe,
                      .image_size = 16};
    setup.recipe.batch_size = 8;
    return warm_up_iteration(setup, torch::kCPU);
  }
};

TEST_P(WarmUpIterationTest, ComputesTheMethodsOwnLossesReplayIncluded) {
  const auto losses = warm_up();
  EXPECT_EQ(!losses.empty(), GetParam().trains);
  OptionSet options;
  const auto method = GetParam().configure(options)(test::small_network(kClasses), 0);
  EXPECT_EQ(losses.contains("distillation"), method->memory() != nullptr);
}

TEST_P(WarmUpIterationTest, LeavesOtherNetworksAlone) {
  const auto network = test::small_network(kClasses);
  OptionSet options;
  const auto method = GetParam().configure(options)(network, 0);
  models::NamedTensors before;
  for (const auto& [name, tensor] : network->state()) before[name] = tensor.clone();
  warm_up();
  for (const auto& [name, tensor] : network->state()) {
    EXPECT_TRUE(torch::equal(tensor, before.at(name))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(AllMethods, WarmUpIterationTest,
                         ::testing::ValuesIn(methods::all_methods()), [](const auto& info) {
                           std::string name(info.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace proca::training

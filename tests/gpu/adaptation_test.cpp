// A whole adaptation step on the GPU, warm-up included, beside the same step on the CPU.

#include "gpu/gpu_test.h"
#include "proca/core/file.h"
#include "proca/engine/adapter.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

class GpuAdaptationTest : public test::GpuTest {
 protected:
  using Weights = std::map<std::string, torch::Tensor>;
  struct Step {
    StepOutcome outcome;
    torch::Tensor pseudo_labels;
    Weights source, adapted;
  };

  void SetUp() override {
    test::GpuTest::SetUp();
    if (!IsSkipped()) test::train_bars(folder_ / "bars", folder_ / "source");
  }

  Step adapt(const std::string& device, compute::Precision precision, compute::GraphMode graph,
             int64_t epochs) {
    const auto state = folder_ / ("state-" + std::to_string(num_states_++));
    copy_source_state(folder_ / "source", state);
    AdaptOptions options;
    options.epochs = epochs;
    options.batch_size = 8;
    options.method_defaults = {{"prototypes", {"3"}}};
    options.compute.device = device;
    options.compute.precision = precision;
    options.compute.graph = graph;
    Adapter adapter(options, state);
    Step step;
    step.outcome = adapter.adapt(test::target_bars({0, 1}, 12));
    step.pseudo_labels = adapter.decisions()->pseudo_labels.labels.cpu();
    const state::StateDirectory after(state);
    step.source = after.read_tensors("source.safetensors").tensors;
    step.adapted = after.read_tensors("model.safetensors").tensors;
    return step;
  }

  // How far apart two adapted networks are, as a part of the way from the source model.
  static double distance(const Step& step, const Step& expected) {
    double apart = 0, way = 0;
    for (const auto& [name, tensor] : expected.adapted) {
      if (!tensor.is_floating_point()) continue;
      apart += (step.adapted.at(name) - tensor).square().sum().item<double>();
      const auto source = expected.source.find(name);
      if (source == expected.source.end()) continue;
      way += (source->second - tensor).square().sum().item<double>();
    }
    return std::sqrt(apart / way);
  }

  static void expect_close(const Step& step, const Step& expected, double tolerance) {
    EXPECT_EQ(step.outcome.detected, expected.outcome.detected);
    EXPECT_TRUE(torch::equal(step.pseudo_labels, expected.pseudo_labels));
    for (const auto& [name, loss] : expected.outcome.losses) {
      EXPECT_NEAR(step.outcome.losses.at(name), loss, tolerance * std::max(1.0, loss)) << name;
    }
    EXPECT_LT(distance(step, expected), tolerance);
  }

  test::TemporaryFolder folder_;
  int num_states_ = 0;
};

TEST_F(GpuAdaptationTest, AStepIsThatOfTheCpuUpToRounding) {
  const auto cpu = adapt("cpu", compute::Precision::kFp32, compute::GraphMode::kOff, 1);
  const auto gpu = adapt("cuda", compute::Precision::kFp32, compute::GraphMode::kOff, 1);
  expect_close(gpu, cpu, 0.02);
}

TEST_F(GpuAdaptationTest, AGraphChangesNothing) {
  if (!compute::make_cuda_graph_capturer(gpu_)) GTEST_SKIP() << "this build captures no graphs";
  const auto eager = adapt("cuda", compute::Precision::kFp32, compute::GraphMode::kOff, 8);
  const auto graph = adapt("cuda", compute::Precision::kFp32, compute::GraphMode::kOn, 8);
  expect_close(graph, eager, 0.05);
}

TEST_F(GpuAdaptationTest, AStepInBfloat16LearnsTheSameClasses) {
  const auto exact = adapt("cuda", compute::Precision::kFp32, compute::GraphMode::kAuto, 2);
  const auto rounded = adapt("cuda", compute::Precision::kBf16, compute::GraphMode::kAuto, 2);
  EXPECT_EQ(rounded.outcome.detected, exact.outcome.detected);
  for (const auto& [name, loss] : rounded.outcome.losses) EXPECT_TRUE(std::isfinite(loss)) << name;
}

}  // namespace
}  // namespace proca::engine

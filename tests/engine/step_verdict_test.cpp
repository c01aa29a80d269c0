// The verdict on a step: what it is written to, and what it does to training.

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"
#include "proca/engine/adapter.h"
#include "support/message_of.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
using methods::OnDoubt;

class StepVerdictTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    source_ = new test::TemporaryFolder();
    test::train_bars(*source_ / "bars", *source_ / "state");
  }
  static void TearDownTestSuite() {
    delete source_;
    source_ = nullptr;
  }

  fs::path fresh_state() {
    const auto folder = folder_ / ("state-" + std::to_string(states_++));
    copy_source_state(*source_ / "state", folder);
    return folder;
  }

  static AdaptOptions options(const std::string& method, std::optional<OnDoubt> on_doubt = {}) {
    AdaptOptions options;
    options.method.set_name(method);
    options.epochs = 2;
    options.batch_size = 8;
    options.method_defaults = {{"prototypes", {"3"}}};
    options.on_doubt = on_doubt;
    return options;
  }

  static bool model_is_the_sources(const fs::path& state) {
    const state::StateDirectory files(state);
    const auto model = files.read_tensors("model.safetensors").tensors;
    for (const auto& [name, tensor] : files.read_tensors("source.safetensors").tensors) {
      if (!torch::equal(tensor, model.at(name))) return false;
    }
    return true;
  }

  static nlohmann::json health_of(const fs::path& state) {
    return nlohmann::json::parse(state::StateDirectory(state).read_text("steps/01/health.json"));
  }

  // Six images: fewer than it takes to tell which classes there are.
  static auto few_images() { return test::target_bars({0, 1}, 3); }

  static test::TemporaryFolder* source_;
  test::TemporaryFolder folder_;
  int states_ = 0;
};
test::TemporaryFolder* StepVerdictTest::source_ = nullptr;

TEST_F(StepVerdictTest, EveryMethodThatTrainsRecordsIt) {
  for (const auto* method : {"census", "proca", "dann", "cida"}) {
    const auto state = fresh_state();
    auto step = options(method, OnDoubt::kAdapt);
    step.budget_iterations = 10;
    const auto outcome = Adapter(step, state).adapt(test::target_bars({0, 1}, 12));
    ASSERT_TRUE(outcome.health.has_value()) << method;
    EXPECT_EQ(outcome.health->images, 24) << method;
    const auto health = health_of(state);
    EXPECT_EQ(health.at("verdict"), adaptation::verdict_word(outcome.health->verdict)) << method;
    EXPECT_EQ(health.at("kept_model"), "adapted") << method;
    EXPECT_TRUE(health.contains("confidence_after")) << method;
    EXPECT_TRUE(health.contains("changed")) << method;
  }
  const auto state = fresh_state();
  Adapter(options("source-only"), state).adapt(few_images());
  EXPECT_FALSE(state::StateDirectory(state).has("steps/01/health.json"));
}

TEST_F(StepVerdictTest, AStepThatIsSkippedLeavesTheNetworkAsItWas) {
  const auto state = fresh_state();
  const auto outcome = Adapter(options("census", OnDoubt::kSkip), state).adapt(few_images());
  EXPECT_EQ(outcome.health->verdict, adaptation::Verdict::kDoubtful);
  EXPECT_FALSE(outcome.trained);
  EXPECT_TRUE(outcome.losses.empty());
  EXPECT_TRUE(model_is_the_sources(state));
  const state::StateDirectory after(state);
  EXPECT_EQ(after.manifest().step, 1) << "it is recorded, so that it is not tried again";
  EXPECT_TRUE(after.manifest().adapted_classes.empty());
  EXPECT_FALSE(after.has("memory.safetensors"));
  EXPECT_TRUE(after.has("steps/01/detection.json"));
  EXPECT_EQ(health_of(state).at("kept_model"), "previous");
}

TEST_F(StepVerdictTest, TheNextStepGoesOnFromThere) {
  const auto state = fresh_state();
  Adapter adapter(options("census", OnDoubt::kSkip), state);
  adapter.adapt(few_images());
  const auto outcome = adapter.adapt(test::target_bars({0, 1}, 12));
  EXPECT_EQ(outcome.step, 2);
  EXPECT_TRUE(outcome.trained) << outcome.health->reason;
  EXPECT_FALSE(model_is_the_sources(state));
}

TEST_F(StepVerdictTest, StopChangesNothing) {
  const auto state = fresh_state();
  const auto message = test::message_of<InputError>(
      [&] { Adapter(options("census", OnDoubt::kStop), state).adapt(few_images()); });
  EXPECT_NE(message.find("step 1 is doubtful: 6 images are too few"), std::string::npos) << message;
  EXPECT_NE(message.find("--on-doubt adapt"), std::string::npos) << message;
  EXPECT_EQ(state::StateDirectory(state).manifest().step, 0);
  EXPECT_FALSE(state::StateDirectory(state).has("steps/01/health.json"));
}

// DANN inserts layers with random weights before its first step.
TEST_F(StepVerdictTest, AFirstStepThatMustTrainNewLayersCannotBeLeftOut) {
  const auto state = fresh_state();
  auto step = options("dann", OnDoubt::kSkip);
  step.budget_iterations = 10;
  const auto message =
      test::message_of<InputError>([&] { Adapter(step, state).adapt(few_images()); });
  EXPECT_NE(message.find("layers that only its first step trains"), std::string::npos) << message;
  EXPECT_EQ(state::StateDirectory(state).manifest().step, 0);
}

TEST_F(StepVerdictTest, MethodsOfPapersAdaptWhateverTheVerdict) {
  const auto state = fresh_state();
  const auto outcome = Adapter(options("proca"), state).adapt(few_images());
  EXPECT_EQ(outcome.health->verdict, adaptation::Verdict::kDoubtful);
  EXPECT_TRUE(outcome.trained);
  EXPECT_FALSE(model_is_the_sources(state));
}

}  // namespace
}  // namespace proca::engine

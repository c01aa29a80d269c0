// Adaptation through a state directory: what is kept, what is not touched, and that
// a step that was cut off ends as if it never had been.

#include "proca/engine/adapter.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "data/source/subset.h"
#include "engine/equal_states.h"
#include "engine/state_session.h"
#include "engine/step_inputs.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/engine/source_trainer.h"
#include "support/message_of.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

class AdapterTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::train_bars(*shared_ / "bars", *shared_ / "source");
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }

  fs::path fresh_state() {
    const auto folder = folder_ / ("state-" + std::to_string(states_++));
    copy_source_state(*shared_ / "source", folder);
    return folder;
  }

  static AdaptOptions options() {
    AdaptOptions options;
    options.method.set_name("proca");
    options.epochs = 5;
    options.batch_size = 8;
    options.method_defaults = {{"prototypes", {"3"}}, {"variant", {"paper"}}};
    return options;
  }

  static std::map<std::string, torch::Tensor> model_of(const fs::path& state) {
    return state::StateDirectory(state).read_tensors("model.safetensors").tensors;
  }

  static test::TemporaryFolder* shared_;
  test::TemporaryFolder folder_;
  int states_ = 0;
};
test::TemporaryFolder* AdapterTest::shared_ = nullptr;

TEST_F(AdapterTest, AStepLeavesModelMemoryAndRecords) {
  const auto state = fresh_state();
  Adapter adapter(options(), state);
  const auto outcome = adapter.adapt(test::target_bars({0, 1}, 12));
  EXPECT_EQ(outcome.step, 1);
  EXPECT_EQ(outcome.num_images, 24);
  EXPECT_FALSE(outcome.detected.empty());
  EXPECT_TRUE(outcome.losses.contains("source"));
  EXPECT_TRUE(outcome.losses.contains("distillation"));
  const state::StateDirectory after(state);
  EXPECT_EQ(after.manifest().step, 1);
  EXPECT_EQ(after.manifest().method, "proca");
  const auto labels = adapter.decisions()->pseudo_labels.labels;
  for (int64_t label = 0; label < 3; ++label) {
    const auto& adapted = after.manifest().adapted_classes;
    EXPECT_EQ(std::count(adapted.begin(), adapted.end(), label) == 1,
              (labels == label).any().item<bool>());
  }
  EXPECT_FALSE(after.manifest().adapting.has_value());
  for (const auto* file : {"memory.safetensors", "centres.safetensors", "steps/01/detection.json",
                           "steps/01/pseudo_labels.csv", "steps/01/prototypes.json",
                           "steps/01/features.safetensors"}) {
    EXPECT_TRUE(after.has(file)) << file;
  }
  EXPECT_FALSE(after.has("training.safetensors"));
  EXPECT_FALSE(torch::equal(model_of(state).at("conv1.weight"),
                            after.read_tensors("source.safetensors").tensors.at("conv1.weight")));
}

TEST_F(AdapterTest, TheFeaturesOfAStepAreRecordedWithoutLabels) {
  const auto state = fresh_state();
  Adapter adapter(options(), state);
  adapter.adapt(test::target_bars({0, 1}, 12));
  const auto tensors =
      state::StateDirectory(state).read_tensors("steps/01/features.safetensors").tensors;
  const auto record = state::FeatureRecord::load(tensors, "features");
  EXPECT_TRUE(record.labels.empty());
  EXPECT_EQ(std::count(record.kinds.begin(), record.kinds.end(), state::FeatureRecord::kTarget),
            24);
  EXPECT_EQ(
      std::count(record.kinds.begin(), record.kinds.end(), state::FeatureRecord::kPrototype),
      state::StateDirectory(state).read_tensors("memory.safetensors").tensors.at("labels").size(0) *
          3);
  EXPECT_EQ(
      std::count(record.kinds.begin(), record.kinds.end(), state::FeatureRecord::kSourceCentre), 3);
  const auto* labels = adapter.decisions()->pseudo_labels.labels.data_ptr<int64_t>();
  EXPECT_TRUE(std::equal(labels, labels + 24, record.pseudo_labels.begin()));
}

TEST_F(AdapterTest, ASessionMayLeaveFeaturesToTheCaller) {
  const auto state = fresh_state();
  AdapterParts parts;
  parts.session =
      std::make_shared<StateSession>(options(), state, SessionOptions{.record_features = false});
  parts.inputs = std::make_shared<StepInputs>(options(), parts.session);
  Adapter adapter(options(), parts);
  adapter.adapt(test::target_bars({0, 1}, 12));
  EXPECT_FALSE(state::StateDirectory(state).has("steps/01/features.safetensors"));
}

TEST_F(AdapterTest, EventsTellWhatTheWorkWasDoneOn) {
  const auto state = fresh_state();
  Adapter adapter(options(), state);
  adapter.adapt(test::target_bars({0, 1}, 12));
  adapter.adapt(test::target_bars({2}, 12, 200));
  std::istringstream lines(read_text_file(state / "events.jsonl"));
  int64_t starts = 0, steps = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto event = nlohmann::json::parse(line);
    if (event.at("event") == "start") {
      ++starts;
      EXPECT_EQ(event.at("precision"), "fp32");
      EXPECT_GE(event.at("threads"), 1);
      EXPECT_FALSE(event.at("device").get<std::string>().empty());
      EXPECT_FALSE(event.at("libtorch").get<std::string>().empty());
      EXPECT_FALSE(event.at("proca").get<std::string>().empty());
    }
    if (event.at("event") == "step") {
      ++steps;
      EXPECT_GT(event.at("peak_memory_bytes"), 1000000);  // LibTorch alone has more.
    }
  }
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(steps, 2);
}

// The number of images of step 1 that are read after step 1 is counted: none.
TEST_F(AdapterTest, ImagesOfEarlierStepsAreNotTouched) {
  const auto state = fresh_state();
  const auto first = test::target_bars({0, 1}, 12);
  Adapter adapter(options(), state);
  adapter.adapt(first);
  const auto& counting = dynamic_cast<const test::MemoryImages&>(*first);
  const int64_t reads = counting.num_reads();
  EXPECT_GT(reads, 0);
  adapter.adapt(test::target_bars({2}, 12, 200));
  EXPECT_EQ(counting.num_reads(), reads);
  EXPECT_EQ(adapter.manifest().step, 2);
}

TEST_F(AdapterTest, AnotherProcessGoesOnFromTheStateAlone) {
  const auto one = fresh_state(), two = fresh_state();
  {
    Adapter adapter(options(), one);
    adapter.adapt(test::target_bars({0, 1}, 12));
    adapter.adapt(test::target_bars({2}, 12, 200));
  }
  Adapter(options(), two).adapt(test::target_bars({0, 1}, 12));
  Adapter(options(), two).adapt(test::target_bars({2}, 12, 200));
  expect_equal_states(one, two);
}

TEST_F(AdapterTest, AFirstStepUnderWayKnowsItsMethod) {
  auto careful = options();
  careful.checkpoint_every = 0;
  careful.load.cache_ram = 0;
  const auto state = fresh_state();
  EXPECT_THROW(Adapter(careful, state)
                   .adapt(std::make_shared<test::DyingImages>(test::target_bars({0, 1}, 12), 150)),
               Error);
  ASSERT_TRUE(state::StateDirectory::read_manifest(state).adapting);
  careful.method = AdaptOptions().method;  // Not chosen.
  Adapter adapter(careful, state);
  EXPECT_EQ(adapter.adapt(test::target_bars({0, 1}, 12)).step, 1);
  EXPECT_EQ(adapter.manifest().method, "proca");
}

TEST_F(AdapterTest, AStepThatWasCutOffAnywhereEndsTheSame) {
  auto careful = options();
  careful.checkpoint_every = 0;  // after every iteration
  careful.load.cache_ram = 0;    // every batch reads the images anew
  const auto reference = fresh_state();
  Adapter(careful, reference).adapt(test::target_bars({0, 1}, 12));
  const auto state = fresh_state();
  int64_t deaths = 0;
  // 24 images are read once for the digest, once for the source model's view, and once per
  // epoch; captures and new labels read more. Each life gets a little further.
  for (int64_t reads = 30; deaths < 100; reads += 7) {
    try {
      Adapter adapter(careful, state);
      adapter.adapt(std::make_shared<test::DyingImages>(test::target_bars({0, 1}, 12), reads));
      break;
    } catch (const Error& error) {
      ASSERT_STREQ(error.what(), "died");
      ++deaths;
    }
  }
  EXPECT_GT(deaths, 3);
  EXPECT_LT(deaths, 100);
  expect_equal_states(reference, state);
}

TEST_F(AdapterTest, WhileAStepIsUnderWayTheModelBeforeItStays) {
  auto careful = options();
  careful.checkpoint_every = 0;
  careful.load.cache_ram = 0;
  const auto state = fresh_state();
  const auto before = model_of(state);
  EXPECT_THROW(Adapter(careful, state)
                   .adapt(std::make_shared<test::DyingImages>(test::target_bars({0, 1}, 12), 130)),
               Error);
  ASSERT_TRUE(state::StateDirectory(state).manifest().adapting.has_value());
  EXPECT_TRUE(torch::equal(model_of(state).at("conv1.weight"), before.at("conv1.weight")));

  const auto other = test::target_bars({2}, 12, 200);
  const auto message = test::message_of([&] { Adapter(careful, state).adapt(other); });
  EXPECT_NE(message.find("step 1 is under way"), std::string::npos) << message;
  EXPECT_NE(message.find("--discard-unfinished"), std::string::npos) << message;
  Adapter(careful, state).adapt(other, SameImages::kSkip, Unfinished::kDiscard);
  EXPECT_EQ(state::StateDirectory(state).manifest().step, 1);
}

TEST_F(AdapterTest, TheSameImagesTwiceAreOneStep) {
  const auto state = fresh_state();
  Adapter(options(), state).adapt(test::target_bars({0, 1}, 12));
  const auto model = model_of(state);
  const auto outcome = Adapter(options(), state).adapt(test::target_bars({0, 1}, 12));
  EXPECT_TRUE(outcome.already_done);
  EXPECT_TRUE(torch::equal(model_of(state).at("conv1.weight"), model.at("conv1.weight")));
  EXPECT_EQ(
      Adapter(options(), state).adapt(test::target_bars({0, 1}, 12), SameImages::kAdaptAgain).step,
      2);
}

TEST_F(AdapterTest, TheSameImagesWithOtherOptionsAreRefusedUnlessAskedFor) {
  const auto state = fresh_state();
  Adapter(options(), state).adapt(test::target_bars({0, 1}, 12));
  auto other = options();
  other.epochs = *other.epochs + 1;
  const auto message = test::message_of([&] {
    Adapter(other, state).adapt(test::target_bars({0, 1}, 12));
  });
  EXPECT_NE(message.find("step 1 was on the same images with other options: epochs = "),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("--again"), std::string::npos) << message;
  EXPECT_EQ(state::StateDirectory(state).manifest().step, 1);
  EXPECT_EQ(Adapter(other, state).adapt(test::target_bars({2}, 12)).step, 2);
  EXPECT_EQ(
      Adapter(options(), state).adapt(test::target_bars({2}, 12), SameImages::kAdaptAgain).step, 3);
}

TEST_F(AdapterTest, ImagesOfTheSameNamesButOtherContentAreAnotherStep) {
  const auto state = fresh_state();
  Adapter(options(), state).adapt(test::target_bars({0, 1}, 12));
  EXPECT_EQ(Adapter(options(), state).adapt(test::target_bars({0, 1}, 12, 300)).step, 2);
}

TEST_F(AdapterTest, WithoutAChosenMethodAStateGoesOnWithItsOwn) {
  const auto state = fresh_state();
  Adapter(options(), state).adapt(test::target_bars({0, 1}, 12));
  AdaptOptions plain;
  plain.epochs = 1;
  plain.batch_size = 8;
  Adapter adapter(plain, state);
  adapter.adapt(test::target_bars({1, 2}, 12));
  EXPECT_EQ(adapter.manifest().method, "proca");
  EXPECT_EQ(adapter.manifest().step, 2);
  Adapter fresh(plain, fresh_state());
  fresh.adapt(test::target_bars({0, 1}, 12));
  EXPECT_EQ(fresh.manifest().method, "census");
}

TEST_F(AdapterTest, AnotherMethodIsRefused) {
  const auto state = fresh_state();
  Adapter(options(), state).adapt(test::target_bars({0, 1}, 12));
  AdaptOptions other;
  other.method.set_name("source-only");
  EXPECT_NE(test::message_of([&] { Adapter(other, state); }).find("adapted with proca"),
            std::string::npos);
}

TEST_F(AdapterTest, SourceImagesThatAreGoneAreNamed) {
  test::write_bars(folder_ / "lost", 8);
  SourceTrainingOptions training;
  training.source = (folder_ / "lost").string();
  training.backbone = "resnet-small";
  training.image_size = 16;
  training.epochs = 1;
  train_source(training, folder_ / "state");
  fs::remove_all(folder_ / "lost");
  const auto message = test::message_of(
      [&] { Adapter(options(), folder_ / "state").adapt(test::target_bars({0}, 4)); });
  EXPECT_NE(message.find("lost"), std::string::npos) << message;
  EXPECT_NE(message.find("source images"), std::string::npos) << message;
  EXPECT_NE(message.find("--source"), std::string::npos) << message;
  EXPECT_EQ(state::StateDirectory(folder_ / "state").manifest().step, 0);
}

TEST_F(AdapterTest, SourceOnlyTakesStepsWithoutTouchingTheModel) {
  const auto state = fresh_state();
  const auto before = model_of(state);
  AdaptOptions floor;
  floor.method.set_name("source-only");
  Adapter adapter(floor, state);
  adapter.adapt(test::target_bars({0}, 4));
  EXPECT_EQ(adapter.adapt(test::target_bars({1}, 4)).step, 2);
  for (const auto& [name, tensor] : model_of(state)) {
    EXPECT_TRUE(torch::equal(tensor, before.at(name))) << name;
  }
}

TEST_F(AdapterTest, DegenerateStepsComplete) {
  const auto state = fresh_state();
  Adapter adapter(options(), state);
  EXPECT_EQ(adapter.adapt(test::target_bars({0}, 1)).num_images, 1);
  std::vector<data::Image> same(5, test::bar_image(1, 7));
  EXPECT_EQ(adapter.adapt(std::make_shared<test::MemoryImages>(same)).step, 2);
}

TEST_F(AdapterTest, ALossThatIsNoNumberStopsTheStepAndKeepsTheModel) {
  auto wild = options();
  wild.lr = 100.0;
  wild.momentum = 0.99;
  const auto state = fresh_state();
  const auto before = model_of(state);
  const auto message = test::message_of<Error>([&] {
    Adapter(wild, state).adapt(test::target_bars({0, 1}, 12));
  });
  EXPECT_NE(message.find("is no longer a number"), std::string::npos) << message;
  EXPECT_TRUE(torch::equal(model_of(state).at("fc.weight"), before.at("fc.weight")));
}

}  // namespace
}  // namespace proca::engine

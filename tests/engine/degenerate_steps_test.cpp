// Steps with next to nothing in them, for every method and every detection rule: they complete
// and leave a model of numbers, or one sentence says why not.

#include <algorithm>

#include <gtest/gtest.h>

#include "models/weights/finite_check.h"
#include "proca/core/error.h"
#include "proca/engine/adapter.h"
#include "proca/engine/model_loading.h"
#include "support/message_of.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

// One trained model for all cases.
class SharedSource : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::make_unique<test::TemporaryFolder>();
    test::train_bars(*folder_ / "bars", *folder_ / "source");
  }
  void TearDown() override { folder_.reset(); }
  fs::path state() const { return *folder_ / "source"; }

 private:
  std::unique_ptr<test::TemporaryFolder> folder_;
};
const SharedSource* const kSource = dynamic_cast<const SharedSource*>(
    ::testing::AddGlobalTestEnvironment(std::make_unique<SharedSource>().release()));

AdaptOptions short_steps(const std::string& method) {
  AdaptOptions options;
  options.method.set_name(method);
  options.epochs = 2;
  if (methods::find_method(method).recipe.iterations > 0) options.iterations = 3;
  options.batch_size = 8;
  options.method_defaults = {{"prototypes", {"3"}},
                             {"bottleneck", {"8"}},
                             {"source-epochs", {"1"}},
                             {"warm-up-epochs", {"1"}},
                             {"capture-first", {"0"}}};
  return options;
}

struct DegenerateStep {
  const char* name;
  std::shared_ptr<data::ImageSource> (*images)();
};

// Of three classes. What a class that is never there may do, all of them show.
const std::vector<DegenerateStep>& cases() {
  static const std::vector<DegenerateStep> all = {
      {"one image", [] { return test::target_bars({0}, 1); }},
      {"two images, fewer than classes",
       [] {
         return test::target_bars({0, 1}, 1);
       }},
      {"one class", [] { return test::target_bars({2}, 9); }},
      {"all images identical",
       []() -> std::shared_ptr<data::ImageSource> {
         return std::make_shared<test::MemoryImages>(
             std::vector<data::Image>(5, test::bar_image(1, 7)));
       }},
      {"black images",
       []() -> std::shared_ptr<data::ImageSource> {
         return std::make_shared<test::MemoryImages>(
             std::vector<data::Image>(3, data::Image::black(16, 16)));
       }},
  };
  return all;
}

void expect_steps(const AdaptOptions& options) {
  const test::TemporaryFolder folder;
  copy_source_state(kSource->state(), folder / "state");
  Adapter adapter(options, folder / "state");
  int64_t step = 0;
  for (const auto& [name, images] : cases()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(adapter.adapt(images()).step, ++step);
    EXPECT_EQ(models::find_not_finite(adapter.network()->state()), std::nullopt);
  }
  EXPECT_EQ(state::StateDirectory(folder / "state").manifest().step, step);
}

class DegenerateStepsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(DegenerateStepsTest, FollowEachOther) { expect_steps(short_steps(GetParam())); }

TEST_P(DegenerateStepsTest, NoImageAtAllIsRefused) {
  const test::TemporaryFolder folder;
  copy_source_state(kSource->state(), folder / "state");
  Adapter adapter(short_steps(GetParam()), folder / "state");
  const auto none = std::make_shared<test::MemoryImages>(std::vector<data::Image>());
  EXPECT_EQ(test::message_of([&] { adapter.adapt(none); }), "memory: holds no image");
  EXPECT_EQ(adapter.adapt(test::target_bars({0}, 2)).step, 1);
}

std::vector<std::string> names_of_methods() {
  std::vector<std::string> names;
  for (const auto& spec : methods::all_methods()) names.emplace_back(spec.name);
  return names;
}

std::string as_test_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Methods, DegenerateStepsTest, ::testing::ValuesIn(names_of_methods()),
                         [](const auto& info) { return as_test_name(info.param); });

class DetectionRulesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(DetectionRulesTest, ManageDegenerateSteps) {
  auto options = short_steps("proca");
  options.method_defaults["detection"] = {GetParam()};
  // As strict as can be: a class has to have all the probability there is.
  if (GetParam() == "scd") options.method_defaults["alpha"] = {"1"};
  expect_steps(options);
}

INSTANTIATE_TEST_SUITE_P(Rules, DetectionRulesTest,
                         ::testing::Values("scd", "hbw", "label-shift", "none"),
                         [](const auto& info) { return as_test_name(info.param); });

// The step after one in which a class was not detected still knows its prototypes, and a class
// that never is has none.
TEST(UndetectedClassTest, KeepsWhatItHadAndGetsNothing) {
  const test::TemporaryFolder folder;
  copy_source_state(kSource->state(), folder / "state");
  auto options = short_steps("proca");
  options.method_defaults["alpha"] = {"1"};  // one class per step
  Adapter adapter(options, folder / "state");
  for (int64_t step = 0; step < 3; ++step) {
    const auto outcome = adapter.adapt(test::target_bars({0}, 6, 100 * step));
    EXPECT_EQ(outcome.detected.size(), 1u);
  }
  const auto memory =
      state::StateDirectory(folder / "state").read_tensors("memory.safetensors").tensors;
  const auto labels = memory.at("labels");
  EXPECT_LT(labels.size(0), 3);
  const auto& adapted = adapter.manifest().adapted_classes;
  for (int64_t i = 0; i < labels.size(0); ++i) {
    EXPECT_EQ(std::count(adapted.begin(), adapted.end(), labels[i].item<int64_t>()), 1);
  }
}

// A model whose weights are not all numbers must not become a state, whatever the losses say.
void expect_numbers(const fs::path& folder) {
  const state::StateDirectory state(folder);
  for (const auto* file : {"model.safetensors", "training.safetensors", "optimizer.safetensors"}) {
    if (!state.has(file)) continue;
    EXPECT_EQ(models::find_not_finite(state.read_tensors(file).tensors), std::nullopt) << file;
  }
}

TEST(NotANumberTest, NoCheckpointOfAStepHoldsIt) {
  const test::TemporaryFolder folder;
  copy_source_state(kSource->state(), folder / "state");
  auto wild = short_steps("proca");
  wild.epochs = 50;
  wild.lr = 100.0;
  wild.momentum = 0.99;
  wild.method_defaults["capture-first"] = {"1000"};
  wild.checkpoint_every = 0;  // after every iteration, not at the end of an epoch
  // The same command again goes on from the last good checkpoint, and meets the same end.
  for (int life = 0; life < 2; ++life) {
    const auto message = test::message_of<Error>([&] {
      Adapter(wild, folder / "state").adapt(test::target_bars({0, 1}, 12));
    });
    EXPECT_NE(message.find("no longer a number"), std::string::npos) << message;
    ASSERT_TRUE(state::StateDirectory(folder / "state").has("training.safetensors"));
    expect_numbers(folder / "state");
  }
}

// Labels are made anew of what the broken network says, before any loss is.
TEST(NotANumberTest, ABrokenNetworkIsFoundBeforeItIsAskedForLabels) {
  const test::TemporaryFolder folder;
  copy_source_state(kSource->state(), folder / "state");
  auto wild = short_steps("proca");
  wild.epochs = 3;
  wild.lr = 1e30;
  wild.batch_size = 12;  // one iteration per epoch: its loss is that of finite weights
  const auto message = test::message_of<Error>([&] {
    Adapter(wild, folder / "state").adapt(test::target_bars({0, 1}, 6));
  });
  EXPECT_EQ(message,
            "step 1, epoch 1: the network's output for an image is no longer a number; the last "
            "good state is kept; try a lower --lr");
  expect_numbers(folder / "state");
}

TEST(NotANumberTest, NoCheckpointOfSourceTrainingHoldsIt) {
  const test::TemporaryFolder folder;
  test::write_bars(folder / "bars", 8);
  SourceTrainingOptions training;
  training.source = (folder / "bars").string();
  training.backbone = "resnet-small";
  training.image_size = 16;
  training.epochs = 30;
  training.batch_size = 24;  // one iteration per epoch: its loss is that of finite weights
  training.head_lr = 1e38;   // Soon beyond what a float can hold.
  training.checkpoint_every = 0;
  const auto message = test::message_of<Error>([&] { train_source(training, folder / "state"); });
  EXPECT_NE(message.find("no longer a number"), std::string::npos) << message;
  ASSERT_TRUE(state::StateDirectory::exists(folder / "state"));
  expect_numbers(folder / "state");
}

}  // namespace
}  // namespace proca::engine

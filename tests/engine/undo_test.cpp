// Steps of the adapter that are taken back, and the models of earlier steps.

#include "proca/state/undo.h"

#include <map>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/engine/adapter.h"
#include "proca/engine/model_loading.h"
#include "support/message_of.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
using Content = std::map<std::string, std::string>;

class UndoTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::train_bars(*shared_ / "bars", *shared_ / "source");
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  UndoTest() { copy_source_state(*shared_ / "source", state_); }

  static AdaptOptions options(const std::string& method) {
    AdaptOptions options;
    options.method.set_name(method);
    options.epochs = 1;
    options.batch_size = 8;
    if (method != "proca") options.iterations = 3;
    return options;
  }
  // The images of a step: of two classes in turn.
  void step(const AdaptOptions& options, int64_t number) {
    Adapter(options, state_)
        .adapt(test::target_bars({number % 3, (number + 1) % 3}, 4, 100 + 10 * number));
  }

  // All files of the state but the id in its lock, and what is kept of earlier steps.
  Content content() const {
    Content files;
    for (const auto& entry : fs::recursive_directory_iterator(state_)) {
      const auto name = entry.path().lexically_relative(state_).string();
      if (name == "lock" || name.starts_with("history")) continue;
      files[name] = entry.is_directory() ? "a folder" : read_text_file(entry.path());
    }
    return files;
  }
  static std::vector<std::string> different(const Content& one, const Content& other) {
    std::vector<std::string> names;
    for (const auto& [name, text] : one) {
      if (!other.contains(name) || other.at(name) != text) names.push_back(name);
    }
    for (const auto& [name, text] : other) {
      if (!one.contains(name)) names.push_back(name);
    }
    return names;
  }
  static std::map<std::string, torch::Tensor> weights_of(const LoadedModel& model) {
    std::map<std::string, torch::Tensor> weights;
    for (const auto& [name, tensor] : model.network->state()) weights[name] = tensor.clone();
    return weights;
  }
  static void expect_equal(const std::map<std::string, torch::Tensor>& one,
                           const std::map<std::string, torch::Tensor>& other) {
    ASSERT_EQ(one.size(), other.size());
    for (const auto& [name, tensor] : one) {
      EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
    }
  }

  static test::TemporaryFolder* shared_;
  test::TemporaryFolder folder_;
  fs::path state_ = folder_ / "state";
};
test::TemporaryFolder* UndoTest::shared_ = nullptr;

TEST_F(UndoTest, AfterEachOfTenStepsTheFormerStateComesBackBitForBit) {
  const auto adapt = options("proca");
  for (int64_t number = 0; number < 10; ++number) {
    const auto before = content();
    step(adapt, number);
    EXPECT_EQ(state::undo_step(state_), number);
    EXPECT_EQ(different(before, content()), std::vector<std::string>());
    step(adapt, number);
  }
}

// DANN adds layers to the model and has a discriminator.
TEST_F(UndoTest, AMethodsOwnLayersAndStateComeBack) {
  const auto adapt = options("dann");
  for (int64_t number = 0; number < 2; ++number) {
    const auto before = content();
    step(adapt, number);
    state::undo_step(state_);
    EXPECT_EQ(different(before, content()), std::vector<std::string>());
    step(adapt, number);
  }
  EXPECT_EQ(load_model_of_step(state_, 0).description.neck, "");
  EXPECT_NE(load_model_of_step(state_, 1).description.neck, "");
}

TEST_F(UndoTest, AnUnfinishedStepIsForgottenBitForBit) {
  auto adapt = options("proca");
  step(adapt, 0);
  const auto before = content();
  adapt.checkpoint_every = 0;
  const auto dying =
      std::make_shared<test::DyingImages>(test::target_bars({0, 1}, 8, 300), /*reads=*/60);
  adapt.load.cache_ram = 0;
  EXPECT_THROW(Adapter(adapt, state_).adapt(dying), Error);
  ASSERT_TRUE(state::StateDirectory::read_manifest(state_).adapting);
  EXPECT_NE(test::message_of([&] { state::undo_step(state_); }).find("step 2 is under way"),
            std::string::npos);
  EXPECT_EQ(state::forget_unfinished_step(state_), 1);
  EXPECT_EQ(different(before, content()), std::vector<std::string>());
  EXPECT_EQ(state::undo_step(state_), 0);
}

TEST_F(UndoTest, TheModelsOfKeptStepsCanBeUsed) {
  auto adapt = options("proca");
  adapt.keep_steps = 2;
  std::vector<std::map<std::string, torch::Tensor>> models;
  for (int64_t number = 0; number < 4; ++number) {
    models.push_back(weights_of(load_model(state::StateDirectory(state_))));
    step(adapt, number);
  }
  models.push_back(weights_of(load_model(state::StateDirectory(state_))));
  for (const int64_t kept : {0, 2, 3, 4}) {
    const auto model = load_model_of_step(state_, kept);
    expect_equal(weights_of(model), models[static_cast<size_t>(kept)]);
    EXPECT_EQ(model.adapted_classes->empty(), kept == 0);
  }
  for (const int64_t gone : {1, 5}) {
    const auto message = test::message_of([&] { load_model_of_step(state_, gone); });
    EXPECT_NE(message.find("is not kept; kept: 0 (source model), 2, 3 and 4"), std::string::npos)
        << message;
  }
}

TEST_F(UndoTest, TheSameImagesAreKnownWithOtherOptions) {
  auto adapt = options("proca");
  const auto images = test::target_bars({0, 1}, 4);
  Adapter(adapt, state_).adapt(images);
  adapt.lr = 0.5;
  EXPECT_TRUE(Adapter(adapt, state_).adapt(images, SameImages::kSkipAnyOptions).already_done);
  EXPECT_NE(test::message_of([&] {
              Adapter(adapt, state_).adapt(images, SameImages::kRequire);
            }).find("step 1 is done"),
            std::string::npos);
  EXPECT_EQ(Adapter(adapt, state_)
                .adapt(test::target_bars({1}, 4, 500), SameImages::kSkipAnyOptions)
                .step,
            2);
}

}  // namespace
}  // namespace proca::engine

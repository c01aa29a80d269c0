// What the engine promises about every method: a step that was cut off ends as if it
// never had been, the state alone is enough to go on, and what it leaves can be used.

#include <filesystem>

#include <gtest/gtest.h>

#include "engine/equal_states.h"
#include "proca/engine/adapter.h"
#include "proca/engine/model_loading.h"
#include "proca/engine/source_trainer.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

class AllMethodsTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::train_bars(*shared_ / "bars", *shared_ / "source");
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }

  fs::path fresh_state(const std::string& name) {
    copy_source_state(*shared_ / "source", folder_ / name);
    return folder_ / name;
  }

  // A state that keeps `keep` source images per class, for steps after `lose_source`. No resize
  // changes these images.
  fs::path state_that_keeps(int64_t keep) {
    test::write_bars(folder_ / "bars", 16);
    auto training = test::bars_training(folder_ / "bars");
    training.resize = 16;
    training.epochs = 2;
    training.keep.per_class = keep;
    train_source(training, folder_ / "keeps");
    return folder_ / "keeps";
  }
  void lose_source() { fs::remove_all(folder_ / "bars"); }

  // Adapts a state in several lives, each a little longer than the one before. Returns how many
  // ended early.
  static int64_t adapt_until_alive(const fs::path& state) {
    int64_t deaths = 0;
    for (int64_t reads = 30; deaths < kMostDeaths; reads += 9) {
      try {
        Adapter adapter(options(), state);
        adapter.adapt(std::make_shared<test::DyingImages>(test::target_bars({0, 1}, 12), reads));
        break;
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "died");
        ++deaths;
      }
    }
    EXPECT_LT(deaths, kMostDeaths);
    return deaths;
  }

  static constexpr int64_t kMostDeaths = 200;

  // Short, and careful: a checkpoint after every iteration, every batch read anew.
  static AdaptOptions options() {
    AdaptOptions options;
    options.method.set_name(GetParam());
    const auto& recipe = methods::find_method(GetParam()).recipe;
    options.epochs = 5;
    if (recipe.iterations > 0) options.iterations = 10;
    options.batch_size = 8;
    options.method_defaults = {{"prototypes", {"3"}},
                               {"bottleneck", {"8"}},
                               {"source-epochs", {"1"}},
                               {"warm-up-epochs", {"1"}},
                               {"refresh-every", {"3"}}};
    options.checkpoint_every = 0;
    options.load.cache_ram = 0;
    return options;
  }

  static test::TemporaryFolder* shared_;
  test::TemporaryFolder folder_;
};
test::TemporaryFolder* AllMethodsTest::shared_ = nullptr;

TEST_P(AllMethodsTest, AStepThatWasCutOffAnywhereEndsTheSame) {
  const auto reference = fresh_state("reference"), state = fresh_state("state");
  Adapter(options(), reference).adapt(test::target_bars({0, 1}, 12));
  const int64_t deaths = adapt_until_alive(state);
  if (methods::find_method(GetParam()).name != "source-only") {
    EXPECT_GT(deaths, 1);
  }
  expect_equal_states(reference, state);
}

TEST_P(AllMethodsTest, AStepWithoutTheSourceFolderThatWasCutOffEndsTheSame) {
  const auto reference = state_that_keeps(3), state = folder_ / "cut";
  copy_source_state(reference, state);
  lose_source();
  Adapter(options(), reference).adapt(test::target_bars({0, 1}, 12));
  adapt_until_alive(state);
  expect_equal_states(reference, state);
}

// All source images, kept in the state, are as good as their folder.
TEST_P(AllMethodsTest, AllKeptImagesAreTheFolder) {
  const auto reference = state_that_keeps(16), state = folder_ / "kept";
  copy_source_state(reference, state);
  for (const auto& folder : {reference, state}) {
    Adapter(options(), folder).adapt(test::target_bars({0, 1}, 12));
    Adapter(options(), folder).adapt(test::target_bars({2}, 12, 200));
    lose_source();
  }
  expect_equal_states(reference, state);
}

TEST_P(AllMethodsTest, AnotherProcessGoesOnFromTheStateAlone) {
  const auto one = fresh_state("one"), two = fresh_state("two");
  const auto images = torch::rand({3, 3, 16, 16});
  torch::Tensor answers;
  {
    Adapter adapter(options(), one);
    adapter.adapt(test::target_bars({0, 1}, 12));
    adapter.adapt(test::target_bars({2}, 12, 200));
    const torch::NoGradGuard no_grad;
    auto network = adapter.network();
    network->eval();
    answers = network->forward(images).logits;
  }
  Adapter(options(), two).adapt(test::target_bars({0, 1}, 12));
  Adapter(options(), two).adapt(test::target_bars({2}, 12, 200));
  expect_equal_states(one, two);
  // And the model in it can be used: it says the same as the one that was trained.
  auto loaded = load_model(state::StateDirectory(two)).network;
  loaded->eval();
  EXPECT_TRUE(torch::allclose(loaded->forward(images).logits, answers, 1e-5, 1e-6));
}

TEST_P(AllMethodsTest, TheSourceModelOfAnAdaptedStateCanStartAgain) {
  const auto adapted = fresh_state("adapted");
  Adapter(options(), adapted).adapt(test::target_bars({0, 1}, 12));
  copy_source_state(adapted, folder_ / "again");
  const state::StateDirectory again(folder_ / "again");
  EXPECT_EQ(again.manifest().model.neck, "");
  EXPECT_TRUE(load_model(again).network->neck().is_empty());
}

TEST_P(AllMethodsTest, DegenerateStepsComplete) {
  Adapter adapter(options(), fresh_state("state"));
  EXPECT_EQ(adapter.adapt(test::target_bars({0}, 1)).num_images, 1);
  std::vector<data::Image> same(5, test::bar_image(1, 7));
  EXPECT_EQ(adapter.adapt(std::make_shared<test::MemoryImages>(same)).step, 2);
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& spec : methods::all_methods()) names.emplace_back(spec.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Methods, AllMethodsTest, ::testing::ValuesIn(method_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace proca::engine

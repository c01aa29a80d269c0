// What a state keeps of the source images, and steps that have nothing else of them.

#include "proca/engine/keep_source.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "engine/equal_states.h"
#include "engine/source/kept_source.h"
#include "proca/core/file.h"
#include "proca/engine/adapter.h"
#include "proca/engine/source_trainer.h"
#include "support/message_of.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

// Bars of 16 pixels, which no resize changes.
SourceTrainingOptions exact_training(const fs::path& images, int64_t keep) {
  auto training = test::bars_training(images);
  training.resize = 16;
  training.epochs = 2;
  training.keep.per_class = keep;
  return training;
}

TEST(KeepSourceOptionsTest, AllClassesKeepFewerWhereBytesAreScarce) {
  struct Case {
    std::vector<int64_t> counts;
    int64_t per_class, max_bytes, expected;
  };
  const int64_t image = 4 * 4 * 3;
  for (const auto& [counts, per_class, max_bytes, expected] :
       std::vector<Case>{{{10, 10}, 5, 10 * image, 5},
                         {{10, 10}, 5, 10 * image - 1, 4},
                         {{10, 10}, 1'000'000, 100 * image, 1'000'000},
                         {{10, 2, 0}, 5, 7 * image, 5},  // the second class has no more than two
                         {{10, 2, 0}, 5, 6 * image, 4},
                         {{10, 10}, 5, 2 * image, 1},
                         {{10, 10}, 0, 0, 0}}) {
    const KeepSourceOptions options{per_class, max_bytes};
    EXPECT_EQ(options.fitting(counts, 4), expected) << per_class << " in " << max_bytes;
  }
  const auto message = test::message_of<InvalidOption>([&] {
    KeepSourceOptions{5, 2 * image - 1}.fitting({10, 10}, 4);
  });
  EXPECT_NE(message.find("--keep-source-bytes"), std::string::npos) << message;
}

class KeepSourceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "bars", 16);
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }

  // A state with `keep` images per class; its source folder is there until `lose_source`.
  fs::path state_with(int64_t keep, const std::string& name = "state") {
    fs::copy(*shared_ / "bars", folder_ / "bars",
             fs::copy_options::recursive | fs::copy_options::skip_existing);
    train_source(exact_training(folder_ / "bars", keep), folder_ / name);
    return folder_ / name;
  }
  void lose_source() { fs::remove_all(folder_ / "bars"); }

  static AdaptOptions options() {
    AdaptOptions options;
    options.method.set_name("proca");
    options.epochs = 3;
    options.batch_size = 8;
    options.method_defaults = {{"prototypes", {"3"}}};
    return options;
  }

  static test::TemporaryFolder* shared_;
  test::TemporaryFolder folder_;
};
test::TemporaryFolder* KeepSourceTest::shared_ = nullptr;

TEST_F(KeepSourceTest, HerdedImagesAreKeptWithWhatIsKnownOfAll) {
  const auto folder = state_with(3);
  const state::StateDirectory state(folder);
  const auto kept = read_kept_source(state);
  EXPECT_EQ(kept.size(), 9);
  EXPECT_EQ(kept.per_class(), 3);
  EXPECT_EQ(kept.num_source_images(), 48);
  EXPECT_TRUE(torch::equal(kept.counts, torch::tensor({16, 16, 16}, torch::kInt64)));
  // Pixels are those of the files that are named, in their order.
  const auto images = kept.images(state.manifest().model.class_names, "kept");
  for (int64_t i = 0; i < kept.size(); ++i) {
    const auto& sample = images->listing().samples[static_cast<size_t>(i)];
    const auto file = data::open_images(fs::path(sample.path));
    EXPECT_EQ(images->read(i).pixels, file->read(0).pixels) << sample.path;
    EXPECT_EQ(fs::path(sample.path).parent_path().filename(),
              state.manifest().model.class_names[static_cast<size_t>(sample.label)]);
  }
  // The centres are those that a step computes of the folder.
  Adapter(options(), folder).adapt(test::target_bars({0, 1}, 12));
  EXPECT_TRUE(torch::equal(
      kept.centres,
      state::StateDirectory(folder).read_tensors("centres.safetensors").tensors.at("centres")));
}

TEST_F(KeepSourceTest, AFinishedTrainingIsGivenImagesWithoutTrainingAgain) {
  const auto folder = state_with(0);
  EXPECT_FALSE(state::StateDirectory(folder).has("kept_source.safetensors"));
  const auto model = read_text_file(folder / "source.safetensors");
  const auto events = read_text_file(folder / "events.jsonl");
  for (const int64_t keep : {2, 5, 3}) {
    state_with(keep);
    EXPECT_EQ(read_kept_source(state::StateDirectory(folder)).per_class(), keep);
  }
  const auto manifest = read_text_file(folder / "state.json");
  state_with(3);
  state_with(0);  // Not said: what is there stays.
  EXPECT_EQ(read_text_file(folder / "state.json"), manifest);
  EXPECT_EQ(read_text_file(folder / "source.safetensors"), model);
  EXPECT_EQ(read_text_file(folder / "events.jsonl"), events);
}

TEST_F(KeepSourceTest, TooFewBytesAreSaidBeforeTheTraining) {
  auto training = exact_training(*shared_ / "bars", 3);
  training.keep.max_bytes = 100;
  test::message_of<InvalidOption>([&] { train_source(training, folder_ / "state"); });
  EXPECT_FALSE(fs::exists(folder_ / "state"));
}

TEST_F(KeepSourceTest, TheFolderIsUsedWhileItIsThereUnlessKeptImagesAreAskedFor) {
  const auto kept = [](const fs::path& state) {
    return read_text_file(state / "adapt.toml").find("# source images: kept, ") !=
           std::string::npos;
  };
  const auto first = state_with(3), second = folder_ / "second", third = folder_ / "third";
  copy_source_state(first, second);
  copy_source_state(first, third);
  Adapter(options(), first).adapt(test::target_bars({0, 1}, 12));
  EXPECT_FALSE(kept(first));
  auto ask = options();
  ask.source_images = SourceImages::kKept;
  Adapter(ask, second).adapt(test::target_bars({0, 1}, 12));
  EXPECT_TRUE(kept(second));
  lose_source();
  Adapter(options(), third).adapt(test::target_bars({0, 1}, 12));
  EXPECT_TRUE(kept(third));
  expect_equal_states(second, third);
  ask.source_images = SourceImages::kFolder;
  const auto message =
      test::message_of([&] { Adapter(ask, third).adapt(test::target_bars({2}, 12)); });
  EXPECT_NE(message.find("cannot be used any more"), std::string::npos) << message;
  EXPECT_NE(message.find("--source-images kept"), std::string::npos) << message;
}

TEST_F(KeepSourceTest, AStateWithoutKeptImagesSaysHowToGetSome) {
  auto ask = options();
  ask.source_images = SourceImages::kKept;
  const auto folder = state_with(0);
  const auto message = test::message_of([&] { Adapter(ask, folder); });
  EXPECT_NE(message.find("--keep-source"), std::string::npos) << message;
  ask.source = (folder_ / "bars").string();
  test::message_of<InvalidOption>([&] { Adapter(ask, folder); });
}

TEST_F(KeepSourceTest, AFinishedStepIsDoneThoughTheFolderHasGone) {
  const auto folder = state_with(3);
  Adapter(options(), folder).adapt(test::target_bars({0, 1}, 12));
  lose_source();
  EXPECT_TRUE(Adapter(options(), folder).adapt(test::target_bars({0, 1}, 12)).already_done);
  auto ask = options();
  ask.source_images = SourceImages::kKept;
  const auto message = test::message_of([&] {
    Adapter(ask, folder).adapt(test::target_bars({0, 1}, 12));
  });
  EXPECT_NE(message.find("step 1 was on the same images"), std::string::npos) << message;
}

TEST_F(KeepSourceTest, AStepUnderWayDoesNotChangeItsSourceImages) {
  const auto folder = state_with(3);
  auto careful = options();
  careful.checkpoint_every = 0;
  careful.load.cache_ram = 0;
  EXPECT_THROW(Adapter(careful, folder)
                   .adapt(std::make_shared<test::DyingImages>(test::target_bars({0, 1}, 12), 130)),
               Error);
  lose_source();
  const auto message = test::message_of([&] {
    Adapter(careful, folder).adapt(test::target_bars({0, 1}, 12));
  });
  EXPECT_NE(message.find("step 1 is under way with other source images"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace proca::engine

// Where a state finds its source images after one of them, or both, have been moved.

#include "engine/source/source_location.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "proca/engine/adapter.h"
#include "proca/engine/source_trainer.h"
#include "state/state_writer.h"
#include "support/message_of.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

TEST(SourceLocationTest, IsRelativeToAStateThatIsNear) {
  struct Case {
    std::string state, source, relative;
  };
  for (const auto& [state, source, relative] :
       std::vector<Case>{{"/a/b/state", "/a/b/photos", "../photos"},
                         {"/a/b/state", "/a/b/data/photos", "../data/photos"},
                         {"/a/b/state/", "/a/b/./photos/", "../photos"},
                         {"/a/b/state", "/a/data/photos", "../../data/photos"},
                         {"/a/b/c/state", "/a/data/photos", ""},
                         {"/a/state", "/data/photos", ""},
                         {"/state", "/photos", ""},
                         {"/a/b", "/a/b/photos", ""}}) {
    state::Manifest manifest;
    record_source(manifest, {source, {}}, state);
    EXPECT_EQ(manifest.source_from_state, relative) << state << " " << source;
    EXPECT_EQ(manifest.source_root, "");
    EXPECT_EQ(manifest.source_root_from_state, "");
    EXPECT_TRUE(fs::path(manifest.source).is_absolute());
  }
}

class MovedStateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "here/bars", 8);
    train_source(training(*shared_ / "here/bars"), *shared_ / "here/state");
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static SourceTrainingOptions training(const fs::path& images) {
    auto training = test::bars_training(images);
    training.epochs = 1;
    training.holdout = 0.25;
    return training;
  }
  static AdaptOptions options(const fs::path& source = {}) {
    AdaptOptions options;
    options.epochs = 1;
    options.batch_size = 8;
    options.source = source.string();
    return options;
  }
  // Copied, and what it was copied from is out of sight for the test.
  fs::path moved(const std::string& what, const std::string& to) {
    fs::create_directories((folder_ / to).parent_path());
    fs::copy(*shared_ / "here" / what, folder_ / to, fs::copy_options::recursive);
    return folder_ / to;
  }
  // A state that has been moved here, from a place that is gone.
  fs::path moved_state(const std::string& to) {
    fs::create_directories(folder_ / "gone");
    fs::copy(*shared_ / "here/bars", folder_ / "gone/bars", fs::copy_options::recursive);
    train_source(training(folder_ / "gone/bars"), folder_ / "gone/state");
    fs::create_directories((folder_ / to).parent_path());
    fs::rename(folder_ / "gone/state", folder_ / to);
    fs::remove_all(folder_ / "gone");
    return folder_ / to;
  }
  static std::string refusal(const fs::path& state, const fs::path& source) {
    return test::message_of(
        [&] { Adapter(options(source), state).adapt(test::target_bars({0}, 4)); });
  }

  static test::TemporaryFolder* shared_;
  test::TemporaryFolder folder_;
};
test::TemporaryFolder* MovedStateTest::shared_ = nullptr;

TEST_F(MovedStateTest, AStateThatIsCopiedWithItsSourceBesideItJustWorks) {
  const auto state = moved("state", "there/state"), bars = moved("bars", "there/bars");
  const auto location = find_source(state::StateDirectory::read_manifest(state), state);
  EXPECT_EQ(fs::canonical(location.images), fs::canonical(bars));
  EXPECT_EQ(Adapter(options(), state).adapt(test::target_bars({0}, 4)).step, 1);
}

TEST_F(MovedStateTest, AStateThatIsCopiedAloneFindsItsSourceWhereItWas) {
  const auto state = moved("state", "there/state");
  const auto location = find_source(state::StateDirectory::read_manifest(state), state);
  EXPECT_EQ(location.images, *shared_ / "here/bars");
  EXPECT_EQ(Adapter(options(), state).adapt(test::target_bars({0}, 4)).step, 1);
}

TEST_F(MovedStateTest, AnotherSetOfThatNameBesideItDoesNotHideTheSourceWhereItWas) {
  const auto state = moved("state", "there/state");
  test::write_bars(folder_ / "there/bars", 5);
  EXPECT_EQ(open_source_of(state::StateDirectory(state))->listing().size(), 24);
}

TEST_F(MovedStateTest, AnotherSetOfThatNameBesideItIsNoSource) {
  const auto state = moved_state("there/state");
  test::write_bars(folder_ / "there/bars", 5);
  const auto message = refusal(state, {});
  EXPECT_NE(message.find("there are 15 in 3 classes, not 24 in 3 classes"), std::string::npos)
      << message;
  EXPECT_NE(message.find("--source"), std::string::npos) << message;
}

TEST_F(MovedStateTest, TheSourceIsGivenOnceAndRemembered) {
  const auto state = moved_state("state");
  EXPECT_NE(refusal(state, {}).find("--source"), std::string::npos);
  const auto bars = moved("bars", "other/drawings");
  EXPECT_EQ(Adapter(options(bars), state).adapt(test::target_bars({0}, 4)).step, 1);
  const auto manifest = state::StateDirectory::read_manifest(state);
  EXPECT_EQ(manifest.source, bars.string());
  EXPECT_EQ(manifest.source_from_state, "../other/drawings");
  EXPECT_EQ(Adapter(options(), state).adapt(test::target_bars({1}, 4)).step, 2);
  EXPECT_TRUE(is_found_at({bars, {}}, manifest, state));
  EXPECT_TRUE(is_found_at({bars / ".", {}}, manifest, state));
  EXPECT_FALSE(is_found_at({bars, folder_.path()}, manifest, state));
  EXPECT_FALSE(is_found_at({*shared_ / "here/bars", {}}, manifest, state));
}

TEST_F(MovedStateTest, OtherImagesAreRefusedWithWhatDiffers) {
  const auto state = moved_state("state");
  const auto fewer = moved("bars", "fewer"), renamed = moved("bars", "renamed"),
             changed = moved("bars", "changed"), other = moved("bars", "other");
  fs::remove(fewer / "level/3.png");
  fs::rename(renamed / "level/3.png", renamed / "level/9.png");
  test::write_png(changed / "level/3.png", test::bar_image(1, 77));
  fs::rename(other / "level", other / "round");
  EXPECT_NE(refusal(state, fewer).find("there are 23 in 3 classes, not 24 in 3 classes"),
            std::string::npos);
  EXPECT_NE(refusal(state, renamed).find("other names or labels"), std::string::npos);
  EXPECT_NE(refusal(state, changed).find("not all pixels"), std::string::npos);
  EXPECT_NE(refusal(state, other).find("the model has no class \"round\""), std::string::npos);
  EXPECT_NE(refusal(state, folder_ / "nowhere").find("does not exist"), std::string::npos);
  EXPECT_EQ(state::StateDirectory::read_manifest(state).step, 0);
}

// The names of its images are all that a state knows whose training did not write pixels down.
TEST_F(MovedStateTest, OfAnOldStateNamesAreCompared) {
  const auto state = moved_state("state");
  state::StateWriter writer(state);
  auto config = writer.state().read_text("config.toml");
  config.erase(config.find("# pixels"));
  writer.put_text("config.toml", config);
  writer.commit(state::Manifest(writer.state().manifest()));
  const state::StateDirectory opened(state);
  const auto bars = moved("bars", "bars");
  EXPECT_EQ(open_relocated_source(opened, {bars, {}}, {}, 1)->listing().size(), 24);
  fs::remove(bars / "level/3.png");
  test::message_of([&] { open_relocated_source(opened, {bars, {}}, {}, 1); });
}

}  // namespace
}  // namespace proca::engine

#include <filesystem>

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "protocol/preset.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca::protocol {
namespace {

namespace fs = std::filesystem;
using test::message_of;

class FindTaskTest : public ::testing::Test {
 protected:
  void make_folder(const std::string& name) { fs::create_directories(root_ / name); }
  TaskPaths find(const Preset& preset, const std::string& source, const std::string& target) {
    return find_task(preset, root_.path(), source, target);
  }
  std::string in_root(const std::string& name) { return (root_ / name).string(); }

  test::TemporaryFolder root_;
  const Preset office31_ = find_preset("office31-ci");
};

TEST_F(FindTaskTest, TakesTheFirstPlaceThatExists) {
  make_folder("amazon/images");
  make_folder("dslr");
  write_file(root_ / "webcam.txt", "a.jpg 0\n");
  const auto first = find(office31_, "amazon", "dslr");
  EXPECT_EQ(first.source, root_ / "amazon/images");
  EXPECT_EQ(first.target, root_ / "dslr");
  EXPECT_EQ(find(office31_, "webcam", "amazon").source, root_ / "webcam.txt");
}

TEST_F(FindTaskTest, DomainMayBeAnotherSetAsTarget) {
  for (const auto* name : {"caltech_list.txt", "caltech_84_list.txt", "imagenet_84_list.txt"}) {
    write_file(root_ / name, "");
  }
  make_folder("imagenet/train");
  const auto preset = find_preset("imagenet-caltech-ci");
  const auto to_imagenet = find(preset, "caltech", "imagenet");
  EXPECT_EQ(to_imagenet.source, root_ / "caltech_list.txt");
  EXPECT_EQ(to_imagenet.target, root_ / "imagenet_84_list.txt");
  const auto to_caltech = find(preset, "imagenet", "caltech");
  EXPECT_EQ(to_caltech.source, root_ / "imagenet/train");
  EXPECT_EQ(to_caltech.target, root_ / "caltech_84_list.txt");
}

TEST_F(FindTaskTest, OfficeHomeIsFoundUnderItsSeveralNames) {
  make_folder("Art");
  make_folder("Real World");
  const auto preset = find_preset("office-home-ci");
  EXPECT_EQ(find(preset, "Art", "Real_World").target, root_ / "Real World");
}

TEST_F(FindTaskTest, UnnamedDomainIsLookedForUnderItsOwnName) {
  make_folder("svhn");
  write_file(root_ / "synth.txt", "");
  const auto paths = find(find_preset("digits-ci"), "svhn", "synth");
  EXPECT_EQ(paths.source, root_ / "svhn");
  EXPECT_EQ(paths.target, root_ / "synth.txt");
}

TEST_F(FindTaskTest, MissingImagesNameEveryPlace) {
  make_folder("amazon");
  EXPECT_EQ(message_of([&] { find(office31_, "amazon", "dslr"); }),
            "the images of target \"dslr\" of preset office31-ci are not there: looked for " +
                in_root("dslr/images") + ", " + in_root("dslr") + ", " + in_root("dslr.txt") +
                ", " + in_root("dslr.pack"));
  const auto bare = parse_preset("classes-per-step = 1\nsteps = 1\n", "bare", "bare.toml");
  EXPECT_EQ(message_of([&] { find(bare, "amazon", "dslr"); }),
            "the images of target \"dslr\" of preset bare are not there: looked for " +
                in_root("dslr") + ", " + in_root("dslr.txt") + ", " + in_root("dslr.pack"));
}

TEST_F(FindTaskTest, UnknownDomainIsAnsweredWithTheNearest) {
  make_folder("amazon");
  const auto root = root_.path().string();
  EXPECT_EQ(message_of<InvalidOption>([&] { find(office31_, "Amazon", "dslr"); }),
            "--source: preset office31-ci knows no domain \"Amazon\", nor does " + root +
                " hold one of that name; did you mean \"amazon\"?");
  EXPECT_EQ(message_of<InvalidOption>([&] { find(office31_, "amazon", "clipart"); }),
            "--target: preset office31-ci knows no domain \"clipart\", nor does " + root +
                " hold one of that name; it knows amazon, dslr, webcam");
  EXPECT_EQ(message_of<InvalidOption>([&] { find(office31_, "amazon", ""); }),
            "--target: names no domain");
}

TEST_F(FindTaskTest, TheTargetIsFoundWithoutTheSource) {
  make_folder("dslr");
  EXPECT_EQ(find_target(office31_, root_.path(), "dslr"), root_ / "dslr");
  EXPECT_FALSE(has_source(office31_, root_.path(), "amazon"));
  make_folder("amazon");
  EXPECT_TRUE(has_source(office31_, root_.path(), "amazon"));
  EXPECT_NE(message_of([&] { find_target(office31_, root_.path(), "webcam"); }).find("target"),
            std::string::npos);
}

TEST_F(FindTaskTest, MissingRootIsNamed) {
  EXPECT_EQ(message_of([&] { find_task(office31_, root_ / "none", "amazon", "dslr"); }),
            "--data-root: " + in_root("none") + " does not exist");
}

}  // namespace
}  // namespace proca::protocol

#include "core/files/open_file.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/remove_folder.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::message_of;

class OpenFileTest : public ::testing::Test {
 protected:
  OpenFileTest() {
    write_file(folder_ / "file", "text");
    fs::create_symlink(folder_ / "file", folder_ / "link");
    fs::create_symlink(folder_ / "nothing", folder_ / "dangling");
    fs::create_directory(folder_ / "elsewhere");
    fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "steps");
    EXPECT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0644), 0);
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  test::TemporaryFolder folder_;
};

// Nobody is at the other end of the pipe: to wait for somebody would be to wait for ever.
TEST_F(OpenFileTest, ReadsFilesAndNothingElse) {
  for (const auto* name : {"file", "link"}) {
    const int descriptor = open_for_reading(at(name));
    EXPECT_GE(descriptor, 0);
    ::close(descriptor);
  }
  const struct {
    std::string path, rule;
  } cases[] = {
      {at("pipe"), "is not a file"},
      {"/dev/zero", "is not a file"},
      {at("elsewhere"), "is not a file"},
      {at("nothing"), "cannot be opened: No such file or directory"},
  };
  for (const auto& [path, rule] : cases) {
    EXPECT_EQ(message_of([&, p = path] { open_for_reading(p); }), path + ": " + rule);
    EXPECT_EQ(message_of([&, p = path] { read_text_file(p); }), path + ": " + rule);
    EXPECT_EQ(try_open_for_reading(path), -1);
  }
}

TEST_F(OpenFileTest, WritesThroughNoLink) {
  for (const auto* name : {"file", "new"}) {
    const int descriptor = open_for_writing(at(name), Creation::kKeep);
    EXPECT_GE(descriptor, 0);
    ::close(descriptor);
  }
  const struct {
    std::string path, rule;
  } cases[] = {
      {at("link"), "it is a link to elsewhere"}, {at("dangling"), "it is a link to elsewhere"},
      {at("pipe"), "it is not a file"},          {"/dev/null", "it is not a file"},
      {at("elsewhere"), "it is not a file"},     {at("none/file"), "No such file or directory"},
  };
  for (const auto& [path, rule] : cases) {
    EXPECT_EQ(message_of([&, p = path] { open_for_writing(p, Creation::kKeep); }),
              path + ": cannot be written: " + rule);
  }
  EXPECT_EQ(read_text_file(at("file")), "text");
  EXPECT_FALSE(fs::exists(at("nothing")));
}

TEST_F(OpenFileTest, ANewFileTakesNobodysPlace) {
  for (const auto* name : {"file", "link", "dangling", "pipe"}) {
    EXPECT_EQ(try_open_for_writing(at(name), Creation::kNew), -1) << name;
    EXPECT_EQ(errno, EEXIST) << name;
  }
  EXPECT_FALSE(fs::exists(at("nothing")));
}

TEST_F(OpenFileTest, AFolderInsideIsNotBehindALink) {
  create_folder_inside(folder_.path(), "own/01");
  create_folder_inside(folder_.path(), "own/01");
  EXPECT_TRUE(fs::is_directory(at("own/01")));
  EXPECT_EQ(message_of([&] { create_folder_inside(folder_.path(), "steps/01"); }),
            at("steps") + ": cannot be written: it is a link to elsewhere");
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  // The folder itself may be one: its user named it.
  create_folder_inside(at("steps"), "01");
  EXPECT_TRUE(fs::is_directory(at("elsewhere/01")));
}

TEST_F(OpenFileTest, AFolderIsNotRemovedThroughALink) {
  write_file(at("elsewhere/photo"), "mine");
  remove_folder(at("steps"));
  EXPECT_FALSE(fs::is_symlink(at("steps")));
  EXPECT_EQ(read_text_file(at("elsewhere/photo")), "mine");
  remove_folder(at("elsewhere"));
  EXPECT_FALSE(fs::exists(at("elsewhere")));
}

}  // namespace
}  // namespace proca

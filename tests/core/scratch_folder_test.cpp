#include "core/files/scratch_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proca/core/file.h"
#include "support/temporary_folder.h"

namespace proca {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolderTest, IsNewAndGoesWithTheObject) {
  const test::TemporaryFolder folder;
  {
    const ScratchFolder a(folder / "work"), b(folder / "work");
    EXPECT_NE(a.path(), b.path());
    write_file(a.path() / "file", "text");
    EXPECT_EQ(entries_of(folder.path()).size(), 2u);
  }
  EXPECT_TRUE(entries_of(folder.path()).empty());
}

// Left by a process that was killed; in use by one that lives; of another prefix; not of a process.
TEST(ScratchFolderTest, RemovesWhatKilledProcessesLeft) {
  const test::TemporaryFolder folder;
  const pid_t killed = ::fork();
  if (killed == 0) {
    const ScratchFolder left(folder / "work");
    write_file(left.path() / "state.json", "{}");
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(killed, nullptr, 0), killed);
  ASSERT_EQ(entries_of(folder.path()).size(), 1u);
  const auto gone = std::to_string(killed);
  const auto alive = std::to_string(::getppid());
  const std::vector<fs::path> kept = {
      folder / ("other-" + gone + "-abcdef"), folder / "work-abcdef",
      folder / ("work-" + alive + "-abcdef"), folder / ("work-" + gone + "x-abcdef")};
  for (const auto& path : kept) fs::create_directory(path);
  {
    const ScratchFolder next(folder / "work");
    EXPECT_EQ(entries_of(folder.path()).size(), kept.size() + 1);
  }
  for (const auto& path : kept) EXPECT_TRUE(fs::exists(path)) << path;
}

// In a folder that all users share a link of such a name may be anybody's.
TEST(ScratchFolderTest, LeavesWhatALinkNamesAlone) {
  const test::TemporaryFolder folder;
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  write_file(folder / "file", "text");
  fs::create_directory(folder / "elsewhere");
  write_file(folder / "elsewhere" / "file", "text");
  fs::create_directory_symlink(folder / "elsewhere",
                               folder / ("work-" + std::to_string(gone) + "-abcdef"));
  const ScratchFolder next(folder / "work");
  EXPECT_TRUE(fs::exists(folder / "elsewhere" / "file"));
}

}  // namespace
}  // namespace proca

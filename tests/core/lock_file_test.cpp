#include "core/files/lock_file.h"

#include <csignal>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca {
namespace {

using test::message_of;

// Another process that holds a lock until it is killed.
class Owner {
 public:
  explicit Owner(const std::filesystem::path& path) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    id_ = fork();
    if (id_ == 0) {
      const LockFile lock(path);
      if (write(ends[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    char ready = 0;
    locked_ = read(ends[0], &ready, 1) == 1;
    close(ends[0]);
  }
  ~Owner() { kill_it(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  bool locked() const { return locked_; }
  pid_t id() const { return id_; }
  void kill_it() {
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = -1;
  }

 private:
  pid_t id_ = -1;
  bool locked_ = false;
};

TEST(LockFileTest, ASecondOwnerIsRefusedWithTheFirstOnesId) {
  const test::TemporaryFolder folder;
  const Owner owner(folder / "lock");
  ASSERT_TRUE(owner.locked());
  EXPECT_EQ(message_of([&] { LockFile{folder / "lock"}; }),
            fmt::format("{}: is being written by process {}; wait for it to end",
                        folder.path().string(), owner.id()));
}

TEST(LockFileTest, AKilledOwnerDoesNotBlockTheNext) {
  const test::TemporaryFolder folder;
  Owner owner(folder / "lock");
  ASSERT_TRUE(owner.locked());
  owner.kill_it();
  EXPECT_NO_THROW(LockFile{folder / "lock"});
}

TEST(LockFileTest, IsReleasedWithTheObjectAndTheFileRemains) {
  const test::TemporaryFolder folder;
  std::optional<LockFile> lock(std::in_place, folder / "lock");
  EXPECT_EQ(message_of([&] { LockFile{folder / "lock"}; }),
            fmt::format("{}: is being written by process {}; wait for it to end",
                        folder.path().string(), getpid()));
  lock.reset();
  EXPECT_NO_THROW(LockFile{folder / "lock"});
  EXPECT_TRUE(std::filesystem::exists(folder / "lock"));
}

TEST(LockFileTest, OthersSeeWhetherItIsHeld) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(is_locked(folder / "lock"));
  {
    Owner owner(folder / "lock");
    ASSERT_TRUE(owner.locked());
    EXPECT_TRUE(is_locked(folder / "lock"));
    owner.kill_it();
    EXPECT_FALSE(is_locked(folder / "lock"));
  }
  const LockFile lock(folder / "lock");
  EXPECT_TRUE(is_locked(folder / "lock"));
}

TEST(LockFileTest, WhoeverOnlyAsksIsRefusedAlike) {
  const test::TemporaryFolder folder;
  EXPECT_NO_THROW(refuse_if_locked(folder / "lock"));
  EXPECT_FALSE(std::filesystem::exists(folder / "lock"));
  Owner owner(folder / "lock");
  ASSERT_TRUE(owner.locked());
  EXPECT_EQ(message_of([&] { refuse_if_locked(folder / "lock"); }),
            message_of([&] { LockFile{folder / "lock"}; }));
  owner.kill_it();
  EXPECT_NO_THROW(refuse_if_locked(folder / "lock"));
}

TEST(LockFileTest, AShorterIdReplacesALongerOne) {
  const test::TemporaryFolder folder;
  write_file(folder / "lock", "123456789012");
  const LockFile lock(folder / "lock");
  EXPECT_EQ(read_text_file(folder / "lock"), std::to_string(getpid()));
}

TEST(LockFileTest, RefusesAPlaceThatCannotBeWritten) {
  const test::TemporaryFolder folder;
  const auto path = folder / "missing/lock";
  EXPECT_EQ(message_of([&] { LockFile{path}; }),
            path.string() + ": cannot be written: No such file or directory");
}

}  // namespace
}  // namespace proca

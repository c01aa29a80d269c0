#include "proca/core/file.h"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proca/core/error.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::message_of;

// Names too long for any file system, where std::filesystem throws its own kind of error.
const std::string kTooLong(300, 'x');

std::vector<std::string> names_in(const test::TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename());
  }
  return names;
}

// Files cannot grow beyond a few bytes while this lives: a full disk, nearly.
class TinyDisk {
 public:
  explicit TinyDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit tiny{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tiny);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~TinyDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(MappedFileTest, HoldsTheBytesOfTheFile) {
  const test::TemporaryFolder folder;
  write_file(folder / "a", std::string_view("a\0\xff", 3));
  const MappedFile file(folder / "a");
  EXPECT_EQ(std::vector<uint8_t>(file.bytes().begin(), file.bytes().end()),
            (std::vector<uint8_t>{'a', 0, 255}));
  EXPECT_EQ(file.path(), folder / "a");
}

TEST(MappedFileTest, OfAnEmptyFileIsAnEmptySpan) {
  const test::TemporaryFolder folder;
  write_file(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
  EXPECT_EQ(read_text_file(folder / "empty"), "");
}

TEST(MappedFileTest, KeepsTheBytesWhenItIsMoved) {
  const test::TemporaryFolder folder;
  write_file(folder / "a", "first");
  write_file(folder / "b", "second");
  MappedFile a(folder / "a");
  const auto* data = a.bytes().data();
  MappedFile moved(std::move(a));
  EXPECT_EQ(moved.bytes().data(), data);
  moved = MappedFile(folder / "b");
  EXPECT_EQ(moved.bytes()[0], 's');
  EXPECT_EQ(moved.path(), folder / "b");
}

TEST(MappedFileTest, RefusesWhatIsNoFileByName) {
  const test::TemporaryFolder folder;
  write_file(folder / "file", "x");
  const struct {
    fs::path path;
    std::string rule;
  } cases[] = {
      {folder / "missing", "cannot be opened: No such file or directory"},
      {folder.path(), "is not a file"},
      {folder / "file/inside", "cannot be opened: Not a directory"},
      {folder / kTooLong, "cannot be opened: File name too long"},
      {"", "cannot be opened: No such file or directory"},
  };
  for (const auto& [path, rule] : cases) {
    EXPECT_EQ(message_of([&, p = path] { MappedFile{p}; }), path.string() + ": " + rule);
    EXPECT_EQ(message_of([&, p = path] { read_text_file(p); }), path.string() + ": " + rule);
  }
}

TEST(AtomicFileTest, WritesAllPartsInOrder) {
  const test::TemporaryFolder folder;
  AtomicFile file(folder / "a");
  EXPECT_EQ(file.size(), 0);
  file.write("one,");
  file.write(bytes_of("two"));
  file.write("");
  EXPECT_EQ(file.size(), 7);
  file.commit();
  EXPECT_EQ(read_text_file(folder / "a"), "one,two");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
}

TEST(AtomicFileTest, OverwritesBytesWrittenBefore) {
  const test::TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write("....body");
  file.write_at(0, bytes_of("head"));
  EXPECT_EQ(file.size(), 8);
  file.write("!");
  file.commit();
  EXPECT_EQ(read_text_file(folder / "a"), "headbody!");
}

TEST(AtomicFileTest, TheOldFileStaysUntilTheNewOneIsComplete) {
  const test::TemporaryFolder folder;
  write_file(folder / "a", "old");
  AtomicFile file(folder / "a");
  file.write("new");
  EXPECT_EQ(read_text_file(folder / "a"), "old");
  file.commit();
  EXPECT_EQ(read_text_file(folder / "a"), "new");
}

TEST(AtomicFileTest, WithoutCommitNothingRemains) {
  const test::TemporaryFolder folder;
  write_file(folder / "a", "old");
  try {
    AtomicFile file(folder / "a");
    AtomicFile other(folder / "b");
    file.write("new");
    throw std::runtime_error("in between");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(read_text_file(folder / "a"), "old");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
}

TEST(AtomicFileTest, AFullDiskIsAnErrorThatLeavesTheOldFile) {
  const test::TemporaryFolder folder;
  write_file(folder / "a", "old");
  std::string message;
  {
    const TinyDisk disk(10);
    message = message_of<Error>([&] { write_file(folder / "a", std::string(100, 'x')); });
  }
  EXPECT_EQ(message, (folder / "a").string() + ": writing failed: File too large");
  EXPECT_EQ(read_text_file(folder / "a"), "old");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
}

TEST(AtomicFileTest, RefusesPlacesThatCannotBeWrittenByName) {
  const test::TemporaryFolder folder;
  write_file(folder / "file", "x");
  const struct {
    fs::path path;
    std::string rule;
  } cases[] = {
      {folder / "missing/a", "No such file or directory"},
      {folder / "file/a", "Not a directory"},
      {folder.path(), "it is a folder"},
      {"/dev/null", "it is no ordinary file"},
      {folder / kTooLong, "File name too long"},
  };
  for (const auto& [path, rule] : cases) {
    EXPECT_EQ(message_of([&, p = path] { write_file(p, "text"); }),
              path.string() + ": cannot be written: " + rule);
  }
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"file"});
}

TEST(CreateWritableFolderTest, CreatesParentsAndAcceptsWhatIsThere) {
  const test::TemporaryFolder folder;
  create_writable_folder(folder / "a/b/c");
  create_writable_folder(folder / "a/b/c");
  create_writable_folder(folder / "a/d/");
  EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
  EXPECT_TRUE(fs::is_directory(folder / "a/d"));
}

TEST(CreateWritableFolderTest, RefusesAFileInTheWayByName) {
  const test::TemporaryFolder folder;
  write_file(folder / "file", "x");
  const struct {
    fs::path path;
    std::string rule;
  } cases[] = {
      {folder / "file", "Not a directory"},
      {folder / "file/inside", "Not a directory"},
      {folder / kTooLong, "File name too long"},
  };
  for (const auto& [path, rule] : cases) {
    EXPECT_EQ(message_of([&, p = path] { create_writable_folder(p); }),
              path.string() + ": cannot be created as a folder: " + rule);
  }
}

// Runs `action` as a user who owns nothing, since root may write anywhere, and
// ends the process with 0 if the message is the expected one.
template <typename Action>
void exit_as_nobody(Action action, const std::string& expected) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(3);
  try {
    action();
  } catch (const InputError& error) {
    std::fputs(error.what(), stderr);
    _exit(error.what() == expected ? 0 : 1);
  }
  _exit(2);
}

TEST(FileDeathTest, AFolderWithoutPermissionIsRefused) {
  const test::TemporaryFolder folder;
  const fs::path closed = folder / "closed";
  fs::create_directory(closed);
  chmod(folder.path().c_str(), 0755);
  chmod(closed.c_str(), 0555);
  EXPECT_EXIT(exit_as_nobody([&] { create_writable_folder(closed); },
                             closed.string() + ": cannot be written to: Permission denied"),
              testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit_as_nobody([&] { write_file(closed / "a", "x"); },
                             (closed / "a").string() + ": cannot be written: Permission denied"),
              testing::ExitedWithCode(0), "");
}

TEST(AtomicFileTest, IsThereBeforeItIsSynced) {
  const test::TemporaryFolder folder;
  write_file(folder / "later", "text", Sync::kLater);
  EXPECT_EQ(read_text_file(folder / "later"), "text");
  sync_file(folder / "later");
  sync_folder(folder.path());
  EXPECT_THROW(sync_file(folder / "none"), InputError);
}

TEST(FileErrorsTest, NameTheFileAndNotTheLibrary) {
  const test::TemporaryFolder folder;
  const auto missing = folder / "missing";
  EXPECT_EQ(message_of<Error>([&] { rename_file(missing, folder / "new"); }),
            (folder / "new").string() + ": cannot be replaced: No such file or directory");
  EXPECT_NO_THROW(remove_file(missing));
  EXPECT_EQ(message_of<Error>([&] { remove_file(folder / kTooLong); }),
            (folder / kTooLong).string() + ": cannot be removed: File name too long");
  EXPECT_EQ(message_of([&] { entries_of(missing); }),
            missing.string() + ": cannot be listed: No such file or directory");
  EXPECT_EQ(message_of<Error>([&] { sync_folder(missing); }),
            missing.string() + ": writing failed: No such file or directory");
}

TEST(FileErrorsTest, EntriesAreSorted) {
  const test::TemporaryFolder folder;
  for (const auto* name : {"b", "c", "a"}) write_file(folder / name, "");
  EXPECT_EQ(entries_of(folder.path()),
            (std::vector<fs::path>{folder / "a", folder / "b", folder / "c"}));
}

// Of a process that ended, of one that lives, of another file, and no name of ours at all.
TEST(RemoveLeftoversTest, RemovesThoseOfProcessesThatAreGone) {
  const test::TemporaryFolder folder;
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const auto of = [](const std::string& name, pid_t id) {
    return name + ".tmp-" + std::to_string(id);
  };
  const std::vector<std::string> kept = {
      "model",       of("model", ::getppid()), of("other", gone),
      "model.tmp-x", of("model", gone) + "0x", of("model", gone) + "-x"};
  for (const auto& name : kept) write_file(folder / name, "");
  write_file(folder / of("model", gone), "half");
  write_file(folder / (of("model", gone) + "-2"), "another half");
  remove_leftovers(folder / "model");
  auto names = names_in(folder);
  std::sort(names.begin(), names.end());
  auto expected = kept;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names, expected);
  EXPECT_NO_THROW(remove_leftovers(folder / "missing" / "model"));
}

// Two containers may give their processes the same id.
TEST(AtomicFileTest, TwoOfTheSameIdDoNotShareATemporaryFile) {
  const test::TemporaryFolder folder;
  AtomicFile first(folder / "a");
  first.write("first, which is longer");
  AtomicFile second(folder / "a");
  second.write("second");
  first.commit();
  EXPECT_EQ(read_text_file(folder / "a"), "first, which is longer");
  second.commit();
  EXPECT_EQ(read_text_file(folder / "a"), "second");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
}

TEST(AtomicFileTest, TakesThePlaceOfALeftoverOfItsOwnIdButFollowsNoLink) {
  const test::TemporaryFolder folder;
  const auto temporary = "a.tmp-" + std::to_string(::getpid());
  write_file(folder / temporary, "left by a process that is gone");
  write_file(folder / "a", "new");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
  write_file(folder / "precious", "text");
  fs::create_symlink(folder / "precious", folder / temporary);
  write_file(folder / "a", "newer");
  EXPECT_EQ(read_text_file(folder / "precious"), "text");
  EXPECT_EQ(read_text_file(folder / "a"), "newer");
}

TEST(Crc32Test, IsTheOneOfZipAndPng) {
  EXPECT_EQ(crc32(bytes_of("123456789")), 0xcbf43926u);  // the check value of the standard
  EXPECT_EQ(crc32({}), 0u);
}

TEST(Crc32Test, ContinuesFromAPreviousValue) {
  EXPECT_EQ(crc32(bytes_of("56789"), crc32(bytes_of("1234"))), 0xcbf43926u);
  EXPECT_EQ(crc32({}, 0xcbf43926u), 0xcbf43926u);
}

// Large contents are done by several threads: the value is that of small pieces in turn.
TEST(Crc32Test, LargeContentsHaveTheSameValue) {
  std::vector<uint8_t> bytes((size_t{9} << 20) + 5);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 7);
  uint32_t expected = 17;
  for (size_t begin = 0; begin < bytes.size(); begin += 1'000'000) {
    expected =
        crc32({bytes.data() + begin, std::min<size_t>(1'000'000, bytes.size() - begin)}, expected);
  }
  EXPECT_EQ(crc32(bytes, 17), expected);
}

}  // namespace
}  // namespace proca

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proca {

/// A whole file, read-only, mapped into memory: opening costs microseconds
/// whatever its size, and pages are read when they are touched.
///
/// Throws `InputError` naming the file when it is missing, unreadable or a folder.
/// An empty file gives an empty span.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// The content of a text file. Throws `InputError` naming the file.
std::string read_text_file(const std::filesystem::path& path);

/// When written bytes have to be on the disk itself.
enum class Sync {
  kNow,    ///< before the call returns
  kLater,  ///< the caller sees to it, with `sync_file` and `sync_folder`
};

/// Writes a file that is either the old one or the complete new one, whatever
/// happens in between: the bytes go to a temporary file beside it, are synced
/// to disk, and the temporary file is renamed over the target at `commit()`.
/// Without `commit()` nothing remains.
///
/// Throws `InputError` when the place cannot be written to, `Error` when
/// writing fails later (a full disk).
///
/// Example:
/// ```
/// AtomicFile file("state.json");
/// file.write(text);
/// file.commit();
/// ```
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const uint8_t> bytes);
  void write(std::string_view text);
  /// Overwrites bytes already written, for headers known only at the end.
  void write_at(int64_t offset, std::span<const uint8_t> bytes);
  int64_t size() const { return size_; }
  void commit(Sync sync = Sync::kNow);

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

/// Removes what killed writers of `path` left beside it: temporary files of processes that
/// are gone. For large files that are written anew, under another process id, after a kill.
void remove_leftovers(const std::filesystem::path& path);

/// `AtomicFile` in one call.
void write_file(const std::filesystem::path& path, std::string_view text, Sync sync = Sync::kNow);

/// Writes all of `bytes` to an open file, from `offset` on. Throws `Error` with `path`, the
/// file's name.
void write_fully(int descriptor, std::span<const uint8_t> bytes, int64_t offset,
                 const std::filesystem::path& path);

/// Waits until a file's content is on the disk. Throws `Error` naming the file.
void sync_file(const std::filesystem::path& path);
/// The same for the names in a folder, where the file system knows how.
void sync_folder(const std::filesystem::path& folder);

/// What the functions of `std::filesystem` do, with errors that name the file: they throw
/// `Error`. A file that is not there counts as removed.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
void remove_file(const std::filesystem::path& path);

/// What is directly in a folder, sorted. Throws `InputError` naming the folder.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Creates a folder and its parents. Throws `InputError` naming the folder and
/// the reason when it cannot be created, is not a folder, or is not writable.
void create_writable_folder(const std::filesystem::path& path);

/// CRC-32 (the polynomial of zip and PNG) of `bytes`, continuing from `previous`. Large
/// contents are shared out to several threads.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t previous = 0);

/// The bytes of a string, for the functions above.
std::span<const uint8_t> bytes_of(std::string_view text);

}  // namespace proca

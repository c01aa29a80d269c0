#include "proca/core/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/files/open_file.h"
#include "core/parallel.h"
#include "proca/core/error.h"

namespace proca {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

}  // namespace

void sync_file(const fs::path& path) {
  const int descriptor = open_for_reading(path);
  const bool has_failed = ::fsync(descriptor) != 0;
  const auto why = reason();
  ::close(descriptor);
  if (has_failed) throw Error(fmt::format("{}: writing failed: {}", path.string(), why));
}

// A rename is on disk only once the folder that holds the name is.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool has_failed = descriptor < 0 || ::fsync(descriptor) != 0;
  const int why = errno;
  if (descriptor >= 0) ::close(descriptor);
  // Not every file system lets a folder be opened or synced.
  static const std::set<int> unable = {EACCES, EPERM, EINVAL, ENOTSUP, EISDIR, EBADF, EROFS};
  if (!has_failed || unable.contains(why)) return;
  throw Error(fmt::format("{}: writing failed: {}", folder.string(), std::strerror(why)));
}

void rename_file(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return;
  throw Error(fmt::format("{}: cannot be replaced: {}", to.string(), reason()));
}

void remove_file(const fs::path& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return;
  throw Error(fmt::format("{}: cannot be removed: {}", path.string(), reason()));
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  if (error) {
    throw InputError(fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

void write_fully(int descriptor, std::span<const uint8_t> bytes, int64_t offset,
                 const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw Error(fmt::format("{}: writing failed: {}", path.string(),
                              written == 0 ? "no byte was taken" : reason()));
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += written;
  }
}

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const int descriptor = open_for_reading(path);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const auto why = reason();
    ::close(descriptor);
    throw Error(fmt::format("{}: cannot be read: {}", path.string(), why));
  }
  size_ = static_cast<size_t>(status.st_size);
  if (size_ > 0) {
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      const auto why = reason();
      ::close(descriptor);
      throw Error(fmt::format("{}: cannot be mapped into memory: {}", path.string(), why));
    }
    data_ = static_cast<const uint8_t*>(data);
  }
  ::close(descriptor);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string read_text_file(const fs::path& path) {
  const MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void write_file(const fs::path& path, std::string_view text, Sync sync) {
  AtomicFile file(path);
  file.write(text);
  file.commit(sync);
}

void create_writable_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && !fs::is_directory(path, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) {
    throw InputError(
        fmt::format("{}: cannot be created as a folder: {}", path.string(), error.message()));
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    throw InputError(fmt::format("{}: cannot be written to: {}", path.string(), reason()));
  }
}

uint32_t crc32(std::span<const uint8_t> bytes, uint32_t previous) {
  // zlib takes a null pointer, which an empty span may have, for "start anew".
  if (bytes.empty()) return previous;
  constexpr size_t kPart = size_t{4} << 20;  // a few milliseconds' work
  constexpr int64_t kThreads = 8;            // enough for the speed of memory
  if (bytes.size() < 2 * kPart) {
    return static_cast<uint32_t>(::crc32_z(previous, bytes.data(), bytes.size()));
  }
  std::vector<std::span<const uint8_t>> parts;
  for (size_t begin = 0; begin < bytes.size(); begin += kPart) {
    parts.push_back(bytes.subspan(begin, std::min(kPart, bytes.size() - begin)));
  }
  std::vector<uint32_t> results(parts.size());
  parallel_for(static_cast<int64_t>(parts.size()), std::min(kThreads, available_cores()),
               [&](int64_t i) {
                 const auto& part = parts[static_cast<size_t>(i)];
                 results[static_cast<size_t>(i)] =
                     static_cast<uint32_t>(::crc32_z(0, part.data(), part.size()));
               });
  for (size_t i = 0; i < parts.size(); ++i) {
    previous = static_cast<uint32_t>(
        ::crc32_combine(previous, results[i], static_cast<z_off_t>(parts[i].size())));
  }
  return previous;
}

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace proca

#pragma once

// What the fuzz targets share.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "proca/core/error.h"

namespace proca::fuzz {

/// Runs `read`, which may refuse its input in the way that users are told of. Everything
/// else that it throws is a finding.
template <typename Read>
void refuse_or(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

/// What must hold for everything that was read.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A file without a place on the disk, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : descriptor_(::memfd_create("input", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, content.data(), content.size()) !=
                               static_cast<ssize_t>(content.size())) {
      throw std::runtime_error("memfd_create failed");
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace proca::fuzz

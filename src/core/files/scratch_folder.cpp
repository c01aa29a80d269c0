#include "core/files/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca {

ScratchFolder::ScratchFolder(const std::filesystem::path& prefix) {
  auto name = prefix.string() + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw InputError(fmt::format("{}: cannot be created: {}", name, std::strerror(errno)));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a destructor cannot report it
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace proca

#pragma once

#include <filesystem>

namespace proca {

// The only place that opens a file whose name a user, or a file from elsewhere, chose. A pipe or
// a device is refused without waiting for it, and nothing is written through a symbolic link: a
// state that someone gave us must not make us write elsewhere. The descriptors close on exec.

/// For reading, through links too. Throws `InputError` naming a file that is missing or no
/// ordinary file.
int open_for_reading(const std::filesystem::path& path);
/// The same where a missing file is no mistake: -1 if it cannot be opened.
int try_open_for_reading(const std::filesystem::path& path);

enum class Creation {
  kNew,   ///< there must be no file of that name, not even a link
  kKeep,  ///< a file that is there keeps its content
};
/// For reading and writing. Throws `InputError` naming the file.
int open_for_writing(const std::filesystem::path& path, Creation creation);
/// The same where a file may be in the way: -1, with the reason in `errno`.
int try_open_for_writing(const std::filesystem::path& path, Creation creation);

/// Creates the folder `inside` of `folder`, such as `steps/01`. Throws `InputError` naming a link
/// on the way from `folder` to it.
void create_folder_inside(const std::filesystem::path& folder, const std::filesystem::path& inside);

}  // namespace proca

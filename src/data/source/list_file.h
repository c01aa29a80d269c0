#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "proca/data/image_source.h"

namespace proca::data {

/// The largest list that is read, far above any real data set. A file that is not a list,
/// or a mistyped label, must not allocate gigabytes of memory.
struct ListLimits {
  int64_t max_line_bytes = 8192;    ///< no path is longer than 4096 on Linux
  int64_t max_images = 20'000'000;  ///< the whole of ImageNet has 14 million
  /// Every number below the largest label is a class with a name, whether it occurs or not.
  int64_t max_label = 1'000'000;
  int64_t max_names = 1'000'001;  ///< of classes, where labels are names
};

/// Parses the text of a list file: one image per line, `path label`, `path,label` or `path`,
/// paths relative to `root` (see `open_images` for the details). Blanks and tabs
/// at both ends of a line, carriage returns, blank lines and a byte order mark
/// are ignored. `origin` is the file's name for messages.
///
/// Checks the form only, not that the images exist; `line_numbers` in the
/// result lets the caller say where a missing one is listed.
///
/// Throws `InputError` with `origin:line` for a line with a label among lines
/// without (or the other way round), a negative label, a zero byte, or what is
/// beyond `limits`; with `origin` for an empty list.
struct ListFile {
  ImageListing listing;
  std::vector<int64_t> line_numbers;  ///< 1-based, by image
};
ListFile parse_list_file(std::string_view text, const std::string& origin,
                         const std::filesystem::path& root, const ListLimits& limits = {});

/// The text of a list file for `listing`, with paths relative to `root`, except
/// absolute ones that lie outside of it. Throws `InputError` for a path that would be read back
/// as something else: one with a line break or a blank at either end, with a byte order
/// mark at the beginning, or, without a label, one whose last word is a number.
std::string format_list_file(const ImageListing& listing, const std::filesystem::path& root);

}  // namespace proca::data

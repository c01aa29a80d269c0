#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "proca/data/image_source.h"

namespace proca::data {

/// Parses the text of a list file: one image per line, `path label` or `path`,
/// paths relative to `root` (see `open_images` for the details). Blanks and tabs
/// at both ends of a line, carriage returns, blank lines and a byte order mark
/// are passed over. `origin` is the file's name for messages.
///
/// Checks the form only, not that the images exist; `line_numbers` in the
/// result lets the caller say where a missing one is listed.
///
/// Throws `InputError` with `origin:line` for a line with a label among lines
/// without (or the other way round), a label that is negative or above
/// 10,000,000, or a zero byte; with `origin` for an empty list.
struct ListFile {
  ImageListing listing;
  std::vector<int64_t> line_numbers;  ///< 1-based, by image
};
ListFile parse_list_file(std::string_view text, const std::string& origin,
                         const std::filesystem::path& root);

/// The text of a list file for `listing`, with paths relative to `root`, except
/// absolute ones that lie outside of it. Throws `InputError` for a path that would be read back
/// as something else: one with a line break or a blank at either end, or,
/// without a label, one whose last word is a number.
std::string format_list_file(const ImageListing& listing, const std::filesystem::path& root);

}  // namespace proca::data

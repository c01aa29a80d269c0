#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "proca/data/image_source.h"

namespace proca::data {

/// Parses the text of a list file: one image per line, `path label` or `path`,
/// paths relative to `root`. Blank lines are passed over; a carriage return at
/// the end of a line is dropped. `origin` is the file's name for messages.
///
/// Checks the form only, not that the images exist; `line_numbers` in the
/// result lets the caller say where a missing one is listed.
///
/// Throws `InputError` with `origin:line` for a line with a label among lines
/// without (or the other way round), a label above 10,000,000, or an empty list.
struct ListFile {
  ImageListing listing;
  std::vector<int64_t> line_numbers;  ///< 1-based, by image
};
ListFile parse_list_file(std::string_view text, const std::string& origin,
                         const std::filesystem::path& root);

/// The text of a list file for `listing`, with paths relative to `root` where
/// they lie below it.
std::string format_list_file(const ImageListing& listing, const std::filesystem::path& root);

}  // namespace proca::data

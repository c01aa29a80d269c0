#pragma once

#include <filesystem>
#include <string>

namespace proca::data {

/// Whether the file's name ends as those of pictures that can be decoded: .jpg, .jpeg, .png,
/// .webp, .tif, .tiff, .gif or .bmp, in any case.
bool has_image_extension(const std::filesystem::path& path);

/// Those endings, for messages.
inline constexpr const char* kImageExtensions = ".jpg, .png, .webp, .tif, .gif or .bmp";

/// What a file is that holds pictures but cannot be decoded, by the ending of its name: `HEIC`,
/// `AVIF`, `SVG`, `video`, ...; empty for any other file.
std::string unsupported_kind(const std::filesystem::path& path);

/// Whether the file begins as a picture that can be decoded, whatever its name is.
bool begins_as_image(const std::filesystem::path& path);

}  // namespace proca::data

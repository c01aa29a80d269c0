#include "data/source/file_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <unistd.h>

#include "core/files/open_file.h"
#include "data/codec/decoders.h"

namespace proca::data {
namespace {

constexpr std::array<std::string_view, 8> kDecoded = {".jpg", ".jpeg", ".png", ".webp",
                                                      ".tif", ".tiff", ".gif", ".bmp"};

struct UnsupportedKind {
  std::string_view extension, kind;
};
constexpr std::array<UnsupportedKind, 29> kUnsupported = {{
    {".heic", "HEIC"},      {".heif", "HEIC"},      {".avif", "AVIF"},      {".jxl", "JPEG XL"},
    {".jp2", "JPEG 2000"},  {".j2k", "JPEG 2000"},  {".svg", "SVG"},        {".svgz", "SVG"},
    {".ico", "icon"},       {".psd", "Photoshop"},  {".xcf", "GIMP"},       {".exr", "OpenEXR"},
    {".ppm", "PNM"},        {".pgm", "PNM"},        {".pbm", "PNM"},        {".tga", "Targa"},
    {".dng", "raw camera"}, {".cr2", "raw camera"}, {".cr3", "raw camera"}, {".nef", "raw camera"},
    {".arw", "raw camera"}, {".orf", "raw camera"}, {".raf", "raw camera"}, {".mp4", "video"},
    {".mov", "video"},      {".avi", "video"},      {".mkv", "video"},      {".webm", "video"},
    {".pdf", "PDF"},
}};

std::string lower_extension(const std::filesystem::path& path) {
  auto extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace

bool has_image_extension(const std::filesystem::path& path) {
  const auto extension = lower_extension(path);
  return std::find(kDecoded.begin(), kDecoded.end(), extension) != kDecoded.end();
}

std::string unsupported_kind(const std::filesystem::path& path) {
  const auto extension = lower_extension(path);
  const auto* found = std::find_if(kUnsupported.begin(), kUnsupported.end(),
                                   [&](const auto& one) { return one.extension == extension; });
  return found == kUnsupported.end() ? "" : std::string(found->kind);
}

bool begins_as_image(const std::filesystem::path& path) {
  const int descriptor = try_open_for_reading(path);  // Waits for no pipe.
  if (descriptor < 0) return false;
  std::array<char, 16> start{};
  const auto count = ::read(descriptor, start.data(), start.size());
  ::close(descriptor);
  const std::string_view text(start.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
  // Two letters are too few: a list of BMW.jpg begins with them.
  return !image_format(text).empty() && image_format(text) != "BMP";
}

}  // namespace proca::data

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proca/core/file.h"
#include "proca/data/image.h"

namespace proca::test {

/// An image of one colour.
inline data::Image colour_image(int64_t width, int64_t height, std::array<uint8_t, 3> rgb) {
  auto image = data::Image::black(width, height);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = rgb[i % 3];
  return image;
}

inline data::Image grey_image(int64_t width, int64_t height, uint8_t level) {
  return colour_image(width, height, {level, level, level});
}

/// Every pixel says where it is and which image it belongs to: (column, row, mark).
inline data::Image coordinate_image(int64_t width, int64_t height, uint8_t mark = 0) {
  auto image = data::Image::black(width, height);
  for (int64_t i = 0; i < width * height; ++i) {
    uint8_t* pixel = image.pixels.data() + 3 * i;
    pixel[0] = static_cast<uint8_t>(i % width);
    pixel[1] = static_cast<uint8_t>(i / width);
    pixel[2] = mark;
  }
  return image;
}

/// `image` as a PNG file: one IDAT chunk with one stored deflate block, which
/// limits it to 65,535 bytes.
inline std::string png_text(const data::Image& image) {
  const auto big_endian = [](uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const auto chunk = [&](const std::string& type, const std::string& body) {
    return big_endian(static_cast<uint32_t>(body.size())) + type + body +
           big_endian(crc32(bytes_of(type + body)));
  };

  std::string rows;
  for (int64_t y = 0; y < image.height; ++y) {
    const auto row = image.pixels.begin() + y * image.width * 3;
    rows += '\0';  // not filtered
    rows.append(row, row + image.width * 3);
  }
  if (rows.size() > 0xffff) throw std::invalid_argument("png_text: the image is too large");
  uint32_t a = 1, b = 0;  // Adler-32
  for (const char c : rows) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto length = static_cast<uint32_t>(rows.size());
  std::string deflated = "\x78\x01\x01";  // zlib; the last block, stored
  for (const uint32_t value : {length, ~length}) {
    deflated += {static_cast<char>(value), static_cast<char>(value >> 8)};
  }
  deflated += rows + big_endian(b << 16 | a);

  const std::string eight_bit_rgb("\x08\x02\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(static_cast<uint32_t>(image.width)) +
                           big_endian(static_cast<uint32_t>(image.height)) + eight_bit_rgb) +
         chunk("IDAT", deflated) + chunk("IEND", "");
}

/// Writes a file and the folders it lies in.
inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  write_file(path, text);
}

inline void write_png(const std::filesystem::path& path, const data::Image& image) {
  write_text(path, png_text(image));
}

/// Four bytes that are no image.
inline void write_broken_image(const std::filesystem::path& path) { write_text(path, "oops"); }

}  // namespace proca::test

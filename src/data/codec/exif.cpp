#include "data/codec/exif.h"

#include <algorithm>
#include <string_view>

namespace proca::data {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint8_t kAsStored = 1;
constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShortType = 3;
constexpr size_t kEntrySize = 12;
constexpr std::string_view kExifName("Exif\0\0", 6);

enum class ByteOrder { kLittle, kBig };

// A number of `size` bytes; 0 beyond the end, which no marker, tag or offset is.
uint64_t number_at(Bytes bytes, size_t offset, size_t size, ByteOrder order) {
  if (offset > bytes.size() || size > bytes.size() - offset) return 0;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    const size_t place = order == ByteOrder::kBig ? i : size - 1 - i;
    value = value << 8 | bytes[offset + place];
  }
  return value;
}

bool begins_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

Bytes part_of(Bytes bytes, size_t offset, size_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min(size, bytes.size() - offset));
}

}  // namespace

uint8_t exif_orientation(Bytes block) {
  // Some writers of WebP keep the name that JPEG puts in front.
  if (begins_with(block, kExifName)) block = block.subspan(kExifName.size());
  const bool little = begins_with(block, std::string_view("II*\0", 4));
  if (!little && !begins_with(block, std::string_view("MM\0*", 4))) return kAsStored;
  const auto order = little ? ByteOrder::kLittle : ByteOrder::kBig;
  const auto directory = static_cast<size_t>(number_at(block, 4, 4, order));
  const auto count = static_cast<size_t>(number_at(block, directory, 2, order));
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + i * kEntrySize;
    if (entry + kEntrySize > block.size()) break;
    if (number_at(block, entry, 2, order) != kOrientationTag) continue;
    const auto value = number_at(block, entry + 8, 2, order);
    const bool valid = number_at(block, entry + 2, 2, order) == kShortType &&
                       number_at(block, entry + 4, 4, order) == 1 && value >= 1 && value <= 8;
    return valid ? static_cast<uint8_t>(value) : kAsStored;
  }
  return kAsStored;
}

// Segments of a marker and a length, up to the first scan.
uint8_t jpeg_orientation(Bytes bytes) {
  size_t at = 2;
  while (at + 4 <= bytes.size() && bytes[at] == 0xff) {
    const uint8_t marker = bytes[at + 1];
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) break;
    const auto length = static_cast<size_t>(number_at(bytes, at + 2, 2, ByteOrder::kBig));
    if (length < 2) break;
    const auto content = part_of(bytes, at + 4, length - 2);
    if (marker == 0xe1 && begins_with(content, kExifName)) return exif_orientation(content);
    at += 2 + length;
  }
  return kAsStored;
}

// Chunks of a length, a name, the content and a checksum.
uint8_t png_orientation(Bytes bytes) {
  size_t at = 8;
  while (at + 12 <= bytes.size()) {
    const auto length = static_cast<size_t>(number_at(bytes, at, 4, ByteOrder::kBig));
    if (begins_with(bytes.subspan(at + 4), "eXIf")) {
      return exif_orientation(part_of(bytes, at + 8, length));
    }
    at += 12 + length;
  }
  return kAsStored;
}

// Chunks of a name, a length and the content, which has an even number of bytes.
uint8_t webp_orientation(Bytes bytes) {
  size_t at = 12;
  while (at + 8 <= bytes.size()) {
    const auto length = static_cast<size_t>(number_at(bytes, at + 4, 4, ByteOrder::kLittle));
    if (begins_with(bytes.subspan(at), "EXIF")) {
      return exif_orientation(part_of(bytes, at + 8, length));
    }
    at += 8 + length + length % 2;
  }
  return kAsStored;
}

}  // namespace proca::data

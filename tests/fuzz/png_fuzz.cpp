// PNG pictures. The checksum behind every chunk is made right first: no mutation would get
// past it.

#include <vector>

#include "image_target.h"
#include "proca/core/file.h"

namespace proca {
namespace {

constexpr size_t kSignature = 8;
constexpr size_t kNumber = 4;

uint32_t big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// A chunk: length of the content, type, content, checksum of the two before it.
void stamp_checksums(std::vector<uint8_t>& file) {
  size_t place = kSignature;
  while (file.size() >= place + 3 * kNumber) {
    const size_t length = big_endian(&file[place]);
    if (length > file.size() - place - 3 * kNumber) return;
    const std::span<const uint8_t> covered(&file[place + kNumber], kNumber + length);
    const auto crc = crc32(covered);
    place += 2 * kNumber + length;
    for (int shift = 24; shift >= 0; shift -= 8) file[place++] = static_cast<uint8_t>(crc >> shift);
  }
}

}  // namespace
}  // namespace proca

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  proca::stamp_checksums(file);
  proca::fuzz::decode_any(file);
  return 0;
}

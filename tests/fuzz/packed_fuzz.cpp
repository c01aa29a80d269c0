// Packed files. An input is one without the zeros between header and images; they are put
// back, and the checksums of header, index, text and images are made right, because no
// mutation would get past them.

#include <algorithm>
#include <cstring>
#include <vector>

#include "data/source/packed_file.h"
#include "fuzz_input.h"
#include "proca/core/file.h"

namespace proca {
namespace {

// As docs/formats/packed_file.md has them.
constexpr size_t kHeader = 64;
constexpr size_t kZerosUntil = 4096;
constexpr size_t kEntry = 40;
constexpr int64_t kMostRead = 8;  // images per input

template <typename T>
T number_at(const std::vector<uint8_t>& file, size_t place) {
  T value;
  std::memcpy(&value, &file[place], sizeof value);
  return value;
}

// The checksum of a part, to `place`, if the file has the part.
void stamp(std::vector<uint8_t>& file, uint64_t offset, uint64_t size, uint64_t place) {
  if (offset > file.size() || size > file.size() - offset || place + 4 > file.size()) return;
  const auto crc = crc32(std::span<const uint8_t>(file).subspan(offset, size));
  std::memcpy(&file[place], &crc, sizeof crc);
}

void stamp_checksums(std::vector<uint8_t>& file) {
  const auto num_images = number_at<uint64_t>(file, 16);
  const auto index = number_at<uint64_t>(file, 24);
  for (uint64_t i = 0; i < std::min<uint64_t>(num_images, kMostRead); ++i) {
    const auto entry = index + i * kEntry;
    if (index > file.size() || entry + kEntry > file.size()) break;
    stamp(file, number_at<uint64_t>(file, entry), number_at<uint64_t>(file, entry + 8), entry + 28);
  }
  if (num_images <= file.size() / kEntry) stamp(file, index, num_images * kEntry, 48);
  stamp(file, number_at<uint64_t>(file, 32), number_at<uint64_t>(file, 40), 52);
  stamp(file, 0, kHeader - 4, kHeader - 4);
}

void read_images(const data::PackedImages& images) {
  const auto& listing = images.listing();
  fuzz::require(listing.size() > 0, "a packed file has images");
  for (int64_t i = 0; i < std::min(listing.size(), kMostRead); ++i) {
    fuzz::refuse_or([&] {
      const auto image = images.read(i);
      fuzz::require(
          static_cast<int64_t>(image.pixels.size()) == data::image_bytes(image.width, image.height),
          "three bytes per pixel");
    });
    fuzz::refuse_or([&] { images.read_encoded(i); });
  }
}

}  // namespace
}  // namespace proca

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  if (size < kHeader) return 0;
  std::vector<uint8_t> file(data, data + kHeader);
  file.resize(kZerosUntil);
  file.insert(file.end(), data + kHeader, data + size);
  stamp_checksums(file);
  const fuzz::MemoryFile on_disk(fuzz::text_of(file));
  fuzz::refuse_or([&] { read_images(*data::open_packed_file(on_disk.path())); });
  return 0;
}

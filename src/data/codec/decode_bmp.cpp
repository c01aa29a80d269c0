// BMP: the formats of Windows that cameras, scanners and old programs write. Rows are not
// compressed, so that a file has all its bytes before memory is taken for pixels.

#include <bit>
#include <string>

#include <fmt/format.h>

#include "data/codec/decoders.h"
#include "data/codec/palette.h"

namespace proca::data {
namespace {

constexpr size_t kFileHeaderSize = 14;
constexpr uint32_t kCoreHeaderSize = 12;   // OS/2: sizes of 16 bits, palettes of three bytes
constexpr uint32_t kInfoHeaderSize = 40;   // masks come behind it
constexpr uint32_t kMasksHeaderSize = 52;  // masks are part of it, and of all larger ones
constexpr uint32_t kLargestHeaderSize = 124;
enum Compression : uint32_t { kPlainRows = 0, kRunLength8 = 1, kRunLength4 = 2, kMasks = 3 };

// The bits of a pixel that hold one colour.
struct ChannelMask {
  uint32_t bits = 0;

  uint8_t of(uint32_t pixel) const {
    if (bits == 0) return 0;
    const uint32_t most = bits >> std::countr_zero(bits);
    const uint64_t value = (pixel & bits) >> std::countr_zero(bits);
    return static_cast<uint8_t>(value * 255 / most);
  }
  bool is_contiguous() const {
    return bits == 0 || std::has_single_bit(uint64_t{bits >> std::countr_zero(bits)} + 1);
  }
};

class BmpDecoder {
 public:
  explicit BmpDecoder(const EncodedImage& source) : source_(source) {}

  void decode(Image& image) {
    read_header();
    check_size(source_, width_, height_);
    row_bytes_ = (width_ * bits_ + 31) / 32 * 4;
    const auto size = static_cast<int64_t>(source_.bytes.size());
    if (data_offset_ > size || row_bytes_ * height_ > size - data_offset_) fail_short();
    if (bits_ <= 8) read_palette();
    set_size(source_, width_, height_, image);
    for (int64_t y = 0; y < height_; ++y) {
      const int64_t place = top_down_ ? y : height_ - 1 - y;
      read_row(source_.bytes.data() + data_offset_ + place * row_bytes_,
               image.pixels.data() + y * width_ * Image::kChannels);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw_undecodable(source_, "BMP", problem);
  }
  [[noreturn]] void fail_short() const { fail("it ends too early"); }

  uint32_t number(size_t offset, size_t size) const {
    if (offset + size > source_.bytes.size()) fail_short();
    uint32_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | source_.bytes[offset + i];
    return value;
  }

  void read_header() {
    data_offset_ = number(10, 4);
    header_size_ = number(kFileHeaderSize, 4);
    if (header_size_ == kCoreHeaderSize) {
      width_ = number(18, 2);
      height_ = number(20, 2);
      bits_ = number(24, 2);
    } else if (header_size_ >= kInfoHeaderSize && header_size_ <= kLargestHeaderSize) {
      width_ = static_cast<int32_t>(number(18, 4));
      height_ = static_cast<int32_t>(number(22, 4));
      bits_ = number(28, 2);
      compression_ = number(30, 4);
      num_colours_ = number(46, 4);
      top_down_ = height_ < 0;
      if (top_down_) height_ = -height_;
    } else {
      fail(fmt::format("it has a header of {} bytes, which is unknown", header_size_));
    }
    if (compression_ == kRunLength8 || compression_ == kRunLength4) {
      fail("run-length compression is not supported; save it as PNG");
    }
    if (compression_ != kPlainRows && compression_ != kMasks) {
      fail(fmt::format("compression {} is unknown", compression_));
    }
    const bool known =
        bits_ == 1 || bits_ == 4 || bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32;
    if (!known || (compression_ == kMasks && bits_ != 16 && bits_ != 32)) {
      fail(fmt::format("{} bits per pixel are unknown", bits_));
    }
    read_masks();
  }

  void read_masks() {
    red_.bits = bits_ == 16 ? 0x7c00 : 0xff0000;
    green_.bits = bits_ == 16 ? 0x03e0 : 0x00ff00;
    blue_.bits = bits_ == 16 ? 0x001f : 0x0000ff;
    if (compression_ != kMasks) return;
    constexpr size_t kMasksOffset = kFileHeaderSize + kInfoHeaderSize;
    red_.bits = number(kMasksOffset, 4);
    green_.bits = number(kMasksOffset + 4, 4);
    blue_.bits = number(kMasksOffset + 8, 4);
    if (!red_.is_contiguous() || !green_.is_contiguous() || !blue_.is_contiguous()) {
      fail("the bits of its colours have gaps");
    }
  }

  void read_palette() {
    const uint32_t possible = uint32_t{1} << bits_;
    const uint32_t count = num_colours_ == 0 ? possible : num_colours_;
    if (count > possible) {
      fail(fmt::format("it claims {} colours with {} bits per pixel", count, bits_));
    }
    const size_t entry = header_size_ == kCoreHeaderSize ? 3 : 4;
    const size_t begin = kFileHeaderSize + header_size_;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t colour = number(begin + i * entry, 3);
      palette_.colours[i] = {static_cast<uint8_t>(colour >> 16), static_cast<uint8_t>(colour >> 8),
                             static_cast<uint8_t>(colour)};
    }
  }

  // The file was found to hold all rows.
  void read_row(const uint8_t* row, uint8_t* rgb) const {
    for (int64_t x = 0; x < width_; ++x, rgb += Image::kChannels) {
      if (bits_ <= 8) {
        const int64_t bit = x * bits_;
        const int shift = static_cast<int>(8 - bits_ - bit % 8);  // the first pixel is on top
        const auto index = static_cast<uint8_t>(row[bit / 8] >> shift & ((1 << bits_) - 1));
        palette_.paint({&index, 1}, rgb);
        continue;
      }
      const uint8_t* bytes = row + x * bits_ / 8;
      uint32_t pixel = 0;
      for (int64_t i = bits_ / 8; i-- > 0;) pixel = pixel << 8 | bytes[i];
      rgb[0] = red_.of(pixel);
      rgb[1] = green_.of(pixel);
      rgb[2] = blue_.of(pixel);
    }
  }

  const EncodedImage& source_;
  int64_t data_offset_ = 0;
  uint32_t header_size_ = 0;
  int64_t width_ = 0, height_ = 0;
  int64_t bits_ = 0;  // of a pixel
  int64_t row_bytes_ = 0;
  uint32_t compression_ = kPlainRows;
  uint32_t num_colours_ = 0;
  bool top_down_ = false;
  ChannelMask red_, green_, blue_;
  Palette palette_;
};

}  // namespace

void decode_bmp(const EncodedImage& source, Image& image) { BmpDecoder(source).decode(image); }

}  // namespace proca::data

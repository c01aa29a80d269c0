// PNG through libpng.
//
// As in decode_jpeg.cpp, libpng's error callback jumps back to `guarded`; code
// that runs there holds no object with a destructor.

#include <array>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include <png.h>

#include "data/codec/decoders.h"
#include "data/codec/palette.h"

namespace proca::data {
namespace {

// The best ratio of deflate: a match of 258 bytes takes two bits. A file that is too short for
// its pixels is refused before memory is allocated for them.
constexpr int64_t kMaxDeflateRatio = 1032;
constexpr png_uint_32 kNoLimit = 0x7fffffff;  // the longest side PNG can express

class PngDecoder {
 public:
  explicit PngDecoder(const EncodedImage& source) : source_(source), unread_(source.bytes) {
    // Where memory is short, libpng returns null here: there is no jump target yet.
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ == nullptr) throw_undecodable(source, "PNG", "libpng cannot be used");
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw_undecodable(source, "PNG", "libpng cannot be used");
    }
    png_set_read_fn(png_, this, read_bytes);
    // `check_size` has the limits.
    png_set_user_limits(png_, kNoLimit, kNoLimit);
    // Skips texts, colour profiles and the like: libpng would allocate whatever size they claim.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  void decode(Image& image) {
    guarded([this] { png_read_info(png_, info_); });
    const auto width = static_cast<int64_t>(png_get_image_width(png_, info_));
    const auto height = static_cast<int64_t>(png_get_image_height(png_, info_));
    check_size(source_, width, height);
    const auto packed_bytes = height * static_cast<int64_t>(png_get_rowbytes(png_, info_));
    if (packed_bytes / kMaxDeflateRatio > static_cast<int64_t>(source_.bytes.size())) {
      throw_undecodable(source_, "PNG", "it ends too early");
    }
    set_size(source_, width, height, image);
    const int colours = png_get_color_type(png_, info_);
    if (colours == PNG_COLOR_TYPE_PALETTE) {
      read_palette_image(image);
    } else {
      read_plain_image(image);
    }
  }

 private:
  static PngDecoder& self(png_structp png) {
    return *static_cast<PngDecoder*>(png_get_error_ptr(png));
  }

  // Runs `body`, which may call libpng, and throws what libpng reports.
  template <typename Body>
  void guarded(Body body) {
    if (setjmp(escape_) != 0) throw_undecodable(source_, "PNG", message_.data());
    body();
  }

  static void on_error(png_structp png, png_const_charp message) {
    PngDecoder& decoder = self(png);
    std::strncpy(decoder.message_.data(), message, decoder.message_.size() - 1);
    std::longjmp(decoder.escape_, 1);
  }

  // Warnings concern colour profiles, texts and the like, not pixels.
  static void on_warning(png_structp, png_const_charp) {}

  static void read_bytes(png_structp png, png_bytep destination, size_t count) {
    auto& unread = static_cast<PngDecoder*>(png_get_io_ptr(png))->unread_;
    if (count > unread.size()) png_error(png, "it ends too early");
    std::memcpy(destination, unread.data(), count);
    unread = unread.subspan(count);
  }

  // Reads all rows, interlaced or not. Each must have `row_bytes` bytes after the
  // transformations that were requested.
  void read_rows(uint8_t* destination, int64_t row_bytes) {
    const auto height = static_cast<int64_t>(png_get_image_height(png_, info_));
    std::vector<png_bytep> rows(static_cast<size_t>(height));
    for (int64_t y = 0; y < height; ++y) {
      rows[static_cast<size_t>(y)] = destination + y * row_bytes;
    }
    guarded([&] {
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    if (static_cast<int64_t>(png_get_rowbytes(png_, info_)) != row_bytes) {
      throw_undecodable(source_, "PNG", "its rows have an unexpected length");
    }
    guarded([&] { png_read_image(png_, rows.data()); });
  }

  void read_plain_image(Image& image) {
    guarded([this] {
      png_set_expand_gray_1_2_4_to_8(png_);
      png_set_strip_16(png_);
      png_set_strip_alpha(png_);
      png_set_gray_to_rgb(png_);
    });
    read_rows(image.pixels.data(), image.width * Image::kChannels);
  }

  void read_palette_image(Image& image) {
    // libpng would make unknown indices black.
    Palette palette;
    png_colorp entries = nullptr;
    int num_entries = 0;
    guarded([&] {
      png_get_PLTE(png_, info_, &entries, &num_entries);
      png_set_packing(png_);
    });
    for (int i = 0; i < num_entries; ++i) {
      palette.colours[static_cast<size_t>(i)] = {entries[i].red, entries[i].green, entries[i].blue};
    }

    std::vector<uint8_t> indices(static_cast<size_t>(image.width * image.height));
    read_rows(indices.data(), image.width);
    palette.paint(indices, image.pixels.data());
  }

  const EncodedImage& source_;
  std::span<const uint8_t> unread_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf escape_{};
  std::array<char, 200> message_{};
};

}  // namespace

void decode_png(const EncodedImage& source, Image& image) { PngDecoder(source).decode(image); }

}  // namespace proca::data

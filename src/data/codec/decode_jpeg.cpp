// JPEG through libjpeg(-turbo).
//
// libjpeg reports errors by a callback that must not return. Throwing through C
// frames is not portable, so the callback jumps back to `guarded`, which throws
// from there. The jump skips destructors: code run by `guarded` therefore holds
// no object that has one.

#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE and does not include it.
#include <string>
#include <vector>

#include <jpeglib.h>
// jpeglib.h must come first.
#include <jerror.h>

#include "data/codec/decoders.h"

namespace proca::data {
namespace {

constexpr JDIMENSION kRowsPerCall = 16;
constexpr int64_t kCmykChannels = 4;

class JpegDecoder {
 public:
  explicit JpegDecoder(const EncodedImage& source) : source_(source) {
    decoder_.err = jpeg_std_error(&errors_);
    decoder_.client_data = this;
    errors_.error_exit = [](j_common_ptr decoder) { std::longjmp(self(decoder).escape_, 1); };
    errors_.emit_message = [](j_common_ptr decoder, int level) {
      self(decoder).note_message(level);
    };
    errors_.output_message = [](j_common_ptr) {};
    guarded([this] { jpeg_create_decompress(&decoder_); });
    // At the end of the bytes this source warns and gives the marker that ends an image, so
    // that a picture which lacks only that marker is complete.
    guarded([&] { jpeg_mem_src(&decoder_, source.bytes.data(), source.bytes.size()); });
    progress_.progress_monitor = [](j_common_ptr decoder) { self(decoder).count_scans(); };
    decoder_.progress = &progress_;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&decoder_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  void decode(Image& image) {
    guarded([this] { jpeg_read_header(&decoder_, TRUE); });
    set_size(source_, decoder_.image_width, decoder_.image_height, image);
    switch (decoder_.num_components) {
      case 1:
      case 3:
        decoder_.out_color_space = JCS_RGB;
        break;
      case 4:
        decoder_.out_color_space = JCS_CMYK;
        break;
      default:
        throw_undecodable(source_, "JPEG", "it has neither 1, 3 nor 4 colour components");
    }
    guarded([this] { jpeg_start_decompress(&decoder_); });
    if (decoder_.out_color_space == JCS_CMYK) {
      read_cmyk_rows(image);
    } else {
      guarded([&] { read_rgb_rows(image.pixels.data()); });
    }
    if (is_truncated()) throw_undecodable(source_, "JPEG", "it ends too early");
  }

 private:
  static JpegDecoder& self(j_common_ptr decoder) {
    return *static_cast<JpegDecoder*>(decoder->client_data);
  }

  // Runs `body`, which may call libjpeg, and throws what libjpeg reports.
  template <typename Body>
  void guarded(Body body) {
    if (setjmp(escape_) != 0) throw_error();
    body();
  }

  // libjpeg calls this regularly while it reads.
  void count_scans() {
    if (decoder_.input_scan_number <= source_.limits.max_scans) return;
    too_many_scans_ = true;
    std::longjmp(escape_, 1);
  }

  [[noreturn]] void throw_error() {
    if (too_many_scans_) {
      const auto limit = std::to_string(source_.limits.max_scans);
      throw_undecodable(source_, "JPEG", "it has more than " + limit + " scans");
    }
    if (at_end_) throw_undecodable(source_, "JPEG", "it ends too early");
    char message[JMSG_LENGTH_MAX];
    errors_.format_message(reinterpret_cast<j_common_ptr>(&decoder_), message);
    throw_undecodable(source_, "JPEG", message);
  }

  // libjpeg warns of damage that it can skip, and Pillow then continues, too. Only data
  // missing after the end of the file is an error.
  void note_message(int level) {
    if (level >= 0) return;
    if (errors_.msg_code == JWRN_JPEG_EOF) at_end_ = true;
    if (errors_.msg_code == JWRN_HIT_MARKER && at_end_) missing_data_ = true;
  }

  // In a single Huffman-coded scan, libjpeg reports missing data. It does not report
  // a scan that is missing altogether, nor the end of arithmetic-coded data: these
  // pictures must have their end marker.
  bool is_truncated() {
    if (!at_end_) return false;
    return missing_data_ || decoder_.arith_code || jpeg_has_multiple_scans(&decoder_);
  }

  void read_rgb_rows(uint8_t* pixels) {
    const size_t row_bytes = size_t{decoder_.output_width} * Image::kChannels;
    // Stops at missing data: a header may claim a huge picture that is not there.
    while (decoder_.output_scanline < decoder_.output_height && !missing_data_) {
      JSAMPROW rows[kRowsPerCall];
      uint8_t* next = pixels + decoder_.output_scanline * row_bytes;
      const JDIMENSION left = decoder_.output_height - decoder_.output_scanline;
      const JDIMENSION count = left < kRowsPerCall ? left : kRowsPerCall;
      for (JDIMENSION i = 0; i < count; ++i) rows[i] = next + i * row_bytes;
      jpeg_read_scanlines(&decoder_, rows, count);
    }
  }

  void read_cmyk_rows(Image& image) {
    std::vector<uint8_t> cmyk(static_cast<size_t>(image.width * kCmykChannels));
    JSAMPROW row = cmyk.data();
    uint8_t* rgb = image.pixels.data();
    for (int64_t y = 0; y < image.height; ++y, rgb += image.width * Image::kChannels) {
      guarded([&] { jpeg_read_scanlines(&decoder_, &row, 1); });
      convert_cmyk(cmyk.data(), image.width, rgb);
    }
  }

  // The samples are 255 minus the amount of ink (Adobe's convention, which
  // Pillow assumes for every CMYK file). As in Pillow, the amount of ink is
  // multiplied by the share left white by black, divided by 255 and rounded.
  static void convert_cmyk(const uint8_t* cmyk, int64_t width, uint8_t* rgb) {
    for (int64_t x = 0; x < width; ++x, cmyk += kCmykChannels, rgb += Image::kChannels) {
      const int not_black = cmyk[3];
      for (int c = 0; c < Image::kChannels; ++c) {
        const int scaled = (255 - cmyk[c]) * not_black + 128;
        const int ink = (scaled + (scaled >> 8)) >> 8;
        rgb[c] = static_cast<uint8_t>(not_black > ink ? not_black - ink : 0);
      }
    }
  }

  const EncodedImage& source_;
  jpeg_decompress_struct decoder_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf escape_{};
  jpeg_progress_mgr progress_{};
  bool too_many_scans_ = false;
  bool at_end_ = false;        // libjpeg has read beyond the last byte
  bool missing_data_ = false;  // ... and needed that for pixels
};

}  // namespace

void decode_jpeg(const EncodedImage& source, Image& image) { JpegDecoder(source).decode(image); }

}  // namespace proca::data

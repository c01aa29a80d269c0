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

    reader_.next_input_byte = source.bytes.data();
    reader_.bytes_in_buffer = source.bytes.size();
    reader_.init_source = [](j_decompress_ptr) {};
    reader_.term_source = [](j_decompress_ptr) {};
    reader_.fill_input_buffer = feed_end_marker;
    reader_.skip_input_data = skip;
    reader_.resync_to_restart = jpeg_resync_to_restart;
    decoder_.src = &reader_;
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

  // Called from inside of libjpeg, again and again while it reads.
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

  // A warning is libjpeg's word for damage it steps over; Pillow goes on too.
  // Only missing data behind the end of the file is kept in mind.
  void note_message(int level) {
    if (level < 0 && errors_.msg_code == JWRN_HIT_MARKER && at_end_) missing_data_ = true;
  }

  // At the end of the bytes, libjpeg is fed the marker that ends an image, so
  // that a picture complete but for that marker can be finished.
  static boolean feed_end_marker(j_decompress_ptr decoder) {
    static constexpr JOCTET kEndOfImage[] = {0xff, JPEG_EOI};
    self(reinterpret_cast<j_common_ptr>(decoder)).at_end_ = true;
    decoder->src->next_input_byte = kEndOfImage;
    decoder->src->bytes_in_buffer = sizeof(kEndOfImage);
    return TRUE;
  }

  static void skip(j_decompress_ptr decoder, long count) {
    if (count <= 0) return;
    auto& reader = *decoder->src;
    if (static_cast<size_t>(count) > reader.bytes_in_buffer) {
      feed_end_marker(decoder);
      return;
    }
    reader.next_input_byte += count;
    reader.bytes_in_buffer -= static_cast<size_t>(count);
  }

  // Where a picture comes in one Huffman-coded scan, libjpeg says whether data
  // was missing. A scan that is absent altogether goes unnoticed, and so does
  // the end of arithmetic-coded data; there the end marker has to be present.
  bool is_truncated() {
    if (!at_end_) return false;
    return missing_data_ || decoder_.arith_code || jpeg_has_multiple_scans(&decoder_);
  }

  void read_rgb_rows(uint8_t* pixels) {
    const size_t row_bytes = size_t{decoder_.output_width} * Image::kChannels;
    // Stopping at missing data spares a huge picture that is all header.
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
  // Pillow assumes of every CMYK file). The product of paper left free by the
  // ink and by black is divided by 255 and rounded as Pillow does: on the ink.
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
  jpeg_source_mgr reader_{};
  std::jmp_buf escape_{};
  jpeg_progress_mgr progress_{};
  bool too_many_scans_ = false;
  bool at_end_ = false;        // libjpeg has asked for bytes behind the last one
  bool missing_data_ = false;  // ... and needed them for pixels
};

}  // namespace

void decode_jpeg(const EncodedImage& source, Image& image) { JpegDecoder(source).decode(image); }

}  // namespace proca::data

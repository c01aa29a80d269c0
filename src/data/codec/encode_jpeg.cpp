// libjpeg reports errors by a callback that must not return; see decode_jpeg.cpp.

#include "data/codec/encode_jpeg.h"

#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE and does not include it.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <jpeglib.h>

#include "proca/core/error.h"

namespace proca::data {
namespace {

class JpegEncoder {
 public:
  JpegEncoder() {
    encoder_.err = jpeg_std_error(&errors_);
    encoder_.client_data = this;
    errors_.error_exit = [](j_common_ptr encoder) {
      std::longjmp(static_cast<JpegEncoder*>(encoder->client_data)->escape_, 1);
    };
    errors_.output_message = [](j_common_ptr) {};
  }
  ~JpegEncoder() {
    jpeg_destroy_compress(&encoder_);
    std::free(bytes_);
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  std::vector<uint8_t> encode(ImageView image, int quality) {
    if (setjmp(escape_) != 0) {
      std::array<char, JMSG_LENGTH_MAX> message{};
      errors_.format_message(reinterpret_cast<j_common_ptr>(&encoder_), message.data());
      throw Error("a picture cannot be written as JPEG: " + std::string(message.data()));
    }
    write(image, quality);
    return {bytes_, bytes_ + size_};
  }

 private:
  // The jump skips destructors, so no object here may have one.
  void write(ImageView image, int quality) {
    jpeg_create_compress(&encoder_);
    jpeg_mem_dest(&encoder_, &bytes_, &size_);
    encoder_.image_width = static_cast<JDIMENSION>(image.width);
    encoder_.image_height = static_cast<JDIMENSION>(image.height);
    encoder_.input_components = Image::kChannels;
    encoder_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&encoder_);
    jpeg_set_quality(&encoder_, quality, TRUE);
    jpeg_start_compress(&encoder_, TRUE);
    for (int64_t y = 0; y < image.height; ++y) {
      auto* row = const_cast<JSAMPROW>(image.row(y));  // libjpeg only reads it
      jpeg_write_scanlines(&encoder_, &row, 1);
    }
    jpeg_finish_compress(&encoder_);
  }

  jpeg_compress_struct encoder_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf escape_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;  // NOLINT(google-runtime-int): libjpeg's type
};

}  // namespace

std::vector<uint8_t> encode_jpeg(ImageView image, int quality) {
  if (image.width <= 0 || image.height <= 0) {
    throw std::invalid_argument("encode_jpeg: an image without pixels");
  }
  return JpegEncoder().encode(image, quality);
}

}  // namespace proca::data

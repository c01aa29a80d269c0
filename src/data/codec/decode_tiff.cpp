// TIFF through libtiff, where the build has it: the first picture of a file.

#include "data/codec/decoders.h"

#ifdef PROCA_WITH_TIFF
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <tiffio.h>
#endif

namespace proca::data {

#ifdef PROCA_WITH_TIFF

namespace {

// Of libtiff's codecs those that are in use and well tested. Old-style JPEG is left out, and so
// is all that scientific programs write.
constexpr std::array<uint16_t, 9> kTiffCodecs = {
    COMPRESSION_NONE,          COMPRESSION_CCITTRLE,  COMPRESSION_CCITTFAX3,
    COMPRESSION_LZW,           COMPRESSION_CCITTFAX4, COMPRESSION_JPEG,
    COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,   COMPRESSION_PACKBITS};

// What libtiff may take for one buffer besides the picture: a strip of 16-bit samples with alpha
// is twice as large as the picture itself.
constexpr int64_t kBytesPerPixel = 16;
constexpr int64_t kSmallBuffers = 4 << 20;
constexpr int64_t kMostMemory = 1 << 30;

// How many bytes of pixels a byte of the file can hold at most; 0: no bound that would help, as fax
// codes make next to nothing of white.
int64_t most_per_byte(uint16_t codec) {
  switch (codec) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 128;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return 1032;
    case COMPRESSION_LZW:
      return 2800;
    default:
      return 0;
  }
}

class TiffDecoder {
 public:
  explicit TiffDecoder(const EncodedImage& source) : source_(source) {
    const auto file_size = static_cast<int64_t>(source.bytes.size());
    const int64_t memory = std::min(
        source.limits.max_pixels * kBytesPerPixel + file_size + kSmallBuffers, kMostMemory);
    const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(
        TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
    if (options == nullptr) fail("there is not enough memory");
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), memory);
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_tiff_error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_tiff_warning, this);
    // "m": read through the functions below instead of mapping the memory a second time.
    tiff_ = TIFFClientOpenExt("", "rm", this, read_bytes, write_bytes, seek, close, size_of,
                              nullptr, nullptr, options.get());
    if (tiff_ == nullptr) fail_with_message();
  }
  ~TiffDecoder() { TIFFClose(tiff_); }
  TiffDecoder(const TiffDecoder&) = delete;
  TiffDecoder& operator=(const TiffDecoder&) = delete;

  void decode(Image& image) {
    uint32_t width = 0, height = 0;
    if (TIFFGetField(tiff_, TIFFTAG_IMAGEWIDTH, &width) == 0 ||
        TIFFGetField(tiff_, TIFFTAG_IMAGELENGTH, &height) == 0) {
      fail("it has no size");
    }
    check_size(source_, width, height);
    check_data(width, height);
    uint16_t orientation = ORIENTATION_TOPLEFT;
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_ORIENTATION, &orientation);
    drop_alpha();
    char problem[1024] = "";
    TIFFRGBAImage reader;
    if (TIFFRGBAImageOK(tiff_, problem) == 0 ||
        TIFFRGBAImageBegin(&reader, tiff_, /*stop_on_err=*/1, problem) == 0) {
      fail(problem);
    }
    const std::unique_ptr<TIFFRGBAImage, void (*)(TIFFRGBAImage*)> ends(&reader, TIFFRGBAImageEnd);
    // libtiff would mirror but not turn; `upright` does both.
    reader.orientation = reader.req_orientation = ORIENTATION_TOPLEFT;
    std::vector<uint32_t> raster(size_t{width} * height);
    if (TIFFRGBAImageGet(&reader, raster.data(), width, height) == 0) fail_with_message();
    set_size(source_, width, height, image);
    uint8_t* rgb = image.pixels.data();
    for (const uint32_t pixel : raster) {
      *rgb++ = static_cast<uint8_t>(TIFFGetR(pixel));
      *rgb++ = static_cast<uint8_t>(TIFFGetG(pixel));
      *rgb++ = static_cast<uint8_t>(TIFFGetB(pixel));
    }
    if (orientation >= 1 && orientation <= 8) image.orientation = static_cast<uint8_t>(orientation);
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const {
    throw_undecodable(source_, "TIFF", problem);
  }
  [[noreturn]] void fail_with_message() const {
    fail(message_.empty() ? "its data is damaged" : message_);
  }

  // Before memory is taken for pixels that cannot be there.
  void check_data(int64_t width, int64_t height) {
    uint16_t codec = COMPRESSION_NONE, bits = 1;
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_COMPRESSION, &codec);
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_BITSPERSAMPLE, &bits);
    if (std::find(kTiffCodecs.begin(), kTiffCodecs.end(), codec) == kTiffCodecs.end()) {
      fail("compression " + std::to_string(codec) + " is not supported");
    }
    const auto least = width * height * bits / 8;  // of one sample per pixel
    const auto most = most_per_byte(codec);
    if (most > 0 && least > static_cast<int64_t>(source_.bytes.size()) * most) {
      fail("it ends too early");
    }
  }

  // libtiff would multiply the colours by an alpha that is not associated; elsewhere alpha is
  // dropped.
  void drop_alpha() {
    uint16_t count = 0;
    uint16_t* kinds = nullptr;
    TIFFGetFieldDefaulted(tiff_, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    if (count == 0) return;
    std::vector<uint16_t> associated(count, EXTRASAMPLE_ASSOCALPHA);
    TIFFSetField(tiff_, TIFFTAG_EXTRASAMPLES, count, associated.data());
  }

  static TiffDecoder& self(thandle_t handle) { return *static_cast<TiffDecoder*>(handle); }

  static int on_tiff_error(TIFF*, void* user, const char*, const char* format, va_list values) {
    auto& message = static_cast<TiffDecoder*>(user)->message_;
    if (!message.empty()) return 1;  // the first one names the cause
    char text[256];
    std::vsnprintf(text, sizeof text, format, values);
    message = text;
    return 1;
  }
  static int on_tiff_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

  static tmsize_t read_bytes(thandle_t handle, void* destination, tmsize_t count) {
    auto& decoder = self(handle);
    const auto& bytes = decoder.source_.bytes;
    const uint64_t left = decoder.place_ < bytes.size() ? bytes.size() - decoder.place_ : 0;
    const auto given = static_cast<size_t>(std::min(left, static_cast<uint64_t>(count)));
    if (given > 0) std::memcpy(destination, bytes.data() + decoder.place_, given);
    decoder.place_ += given;
    return static_cast<tmsize_t>(given);
  }
  static tmsize_t write_bytes(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    auto& decoder = self(handle);
    if (whence == SEEK_SET) decoder.place_ = offset;
    if (whence == SEEK_CUR) decoder.place_ += offset;
    if (whence == SEEK_END) decoder.place_ = decoder.source_.bytes.size() + offset;
    return decoder.place_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size_of(thandle_t handle) { return self(handle).source_.bytes.size(); }

  const EncodedImage& source_;
  uint64_t place_ = 0;
  std::string message_;  // of the first error
  TIFF* tiff_ = nullptr;
};

}  // namespace

void decode_tiff(const EncodedImage& source, Image& image) { TiffDecoder(source).decode(image); }

#else

void decode_tiff(const EncodedImage& source, Image&) {
  throw_undecodable(source, "TIFF",
                    "this build has no TIFF support (install libtiff-dev and build again)");
}

#endif

}  // namespace proca::data

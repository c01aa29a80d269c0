// WebP through libwebp, where the build has it.

#include "data/codec/decoders.h"

#ifdef PROCA_WITH_WEBP
#include <webp/decode.h>
#endif

namespace proca::data {

#ifdef PROCA_WITH_WEBP

namespace {

std::string_view describe(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "it ends too early";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "there is not enough memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it uses a feature that libwebp does not know";
    default:
      return "its data is damaged";
  }
}

void check(const EncodedImage& source, VP8StatusCode status) {
  if (status != VP8_STATUS_OK) throw_undecodable(source, "WebP", describe(status));
}

}  // namespace

void decode_webp(const EncodedImage& source, Image& image) {
  const auto& bytes = source.bytes;
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    throw_undecodable(source, "WebP", "libwebp is of another version than its header");
  }
  check(source, WebPGetFeatures(bytes.data(), bytes.size(), &config.input));
  if (config.input.has_animation) {
    throw_undecodable(source, "WebP", "animations are not supported");
  }
  set_size(source, config.input.width, config.input.height, image);

  // Alpha, if any, is dropped by asking for RGB.
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = image.pixels.data();
  config.output.u.RGBA.stride = static_cast<int>(image.width * Image::kChannels);
  config.output.u.RGBA.size = image.pixels.size();
  const VP8StatusCode status = WebPDecode(bytes.data(), bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  check(source, status);
}

#else

void decode_webp(const EncodedImage& source, Image&) {
  throw_undecodable(source, "WebP",
                    "this build has no WebP support (install libwebp-dev and build again)");
}

#endif

}  // namespace proca::data

// GIF through giflib, where the build has it. Of an animation only the first picture is read.

#include "data/codec/decoders.h"

#ifdef PROCA_WITH_GIF
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gif_lib.h>

#include "data/codec/palette.h"
#endif

namespace proca::data {

#ifdef PROCA_WITH_GIF

namespace {

// LZW's longest string is of 4,096 pixels, and its code of 12 bits.
constexpr int64_t kMostPixelsPerByte = 2800;

class GifDecoder {
 public:
  explicit GifDecoder(const EncodedImage& source) : source_(source), unread_(source.bytes) {
    int problem = D_GIF_SUCCEEDED;
    gif_ = DGifOpen(this, read_bytes, &problem);
    if (gif_ == nullptr) fail(problem);
  }
  ~GifDecoder() {
    int ignored = 0;
    DGifCloseFile(gif_, &ignored);
  }
  GifDecoder(const GifDecoder&) = delete;
  GifDecoder& operator=(const GifDecoder&) = delete;

  void decode(Image& image) {
    find_picture();
    const auto& frame = gif_->Image;
    // As in Pillow, the screen grows with a picture that does not fit.
    const int64_t width = std::max<int64_t>(gif_->SWidth, int64_t{frame.Left} + frame.Width);
    const int64_t height = std::max<int64_t>(gif_->SHeight, int64_t{frame.Top} + frame.Height);
    check_size(source_, frame.Width, frame.Height);
    const auto most_pixels = static_cast<int64_t>(unread_.size()) * kMostPixelsPerByte;
    if (int64_t{frame.Width} * frame.Height > most_pixels) {
      throw_undecodable(source_, "GIF", "it ends too early");
    }
    set_size(source_, width, height, image);
    read_colours();
    const std::vector<uint8_t> around(static_cast<size_t>(width), background_);
    uint8_t* pixels = image.pixels.data();
    for (int64_t y = 0; y < height; ++y) {
      palette_.paint(around, pixels + y * width * Image::kChannels);
    }
    read_rows(image);
  }

 private:
  [[noreturn]] void fail(int problem) const {
    if (unread_.empty()) throw_undecodable(source_, "GIF", "it ends too early");
    const char* text = GifErrorString(problem);
    throw_undecodable(source_, "GIF", text != nullptr ? text : "its data is damaged");
  }
  void check(int status) const {
    if (status == GIF_ERROR) fail(gif_->Error);
  }

  static int read_bytes(GifFileType* gif, GifByteType* destination, int count) {
    auto& unread = static_cast<GifDecoder*>(gif->UserData)->unread_;
    const size_t given = std::min(unread.size(), static_cast<size_t>(count));
    std::memcpy(destination, unread.data(), given);
    unread = unread.subspan(given);
    return static_cast<int>(given);
  }

  // Passes over what comes before the first picture, except for its transparent colour.
  void find_picture() {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    for (;;) {
      check(DGifGetRecordType(gif_, &type));
      if (type == IMAGE_DESC_RECORD_TYPE) break;
      if (type != EXTENSION_RECORD_TYPE) {
        throw_undecodable(source_, "GIF", "it holds no picture");
      }
      int kind = 0;
      GifByteType* block = nullptr;
      check(DGifGetExtension(gif_, &kind, &block));
      while (block != nullptr) {
        constexpr int kTransparent = 1;
        if (kind == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4 && (block[1] & kTransparent) != 0) {
          background_ = block[4];
        }
        check(DGifGetExtensionNext(gif_, &block));
      }
    }
    check(DGifGetImageDesc(gif_));
  }

  void read_colours() {
    const auto* map = gif_->Image.ColorMap != nullptr ? gif_->Image.ColorMap : gif_->SColorMap;
    if (map == nullptr) return;
    const auto count =
        std::min<size_t>(static_cast<size_t>(map->ColorCount), palette_.colours.size());
    for (size_t i = 0; i < count; ++i) {
      palette_.colours[i] = {map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue};
    }
  }

  void read_rows(Image& image) {
    const auto& frame = gif_->Image;
    std::vector<uint8_t> indices(static_cast<size_t>(frame.Width));
    const auto read_row = [&](int64_t y) {
      check(DGifGetLine(gif_, indices.data(), frame.Width));
      palette_.paint(indices, image.pixels.data() +
                                  ((frame.Top + y) * image.width + frame.Left) * Image::kChannels);
    };
    if (!frame.Interlace) {
      for (int64_t y = 0; y < frame.Height; ++y) read_row(y);
      return;
    }
    constexpr std::array<std::array<int64_t, 2>, 4> kPasses = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
    for (const auto& [first, step] : kPasses) {
      for (int64_t y = first; y < frame.Height; y += step) read_row(y);
    }
  }

  const EncodedImage& source_;
  std::span<const uint8_t> unread_;
  GifFileType* gif_ = nullptr;
  Palette palette_;
  uint8_t background_ = 0;  // index of what the picture does not cover
};

}  // namespace

void decode_gif(const EncodedImage& source, Image& image) { GifDecoder(source).decode(image); }

#else

void decode_gif(const EncodedImage& source, Image&) {
  throw_undecodable(source, "GIF",
                    "this build has no GIF support (install libgif-dev and build again)");
}

#endif

}  // namespace proca::data

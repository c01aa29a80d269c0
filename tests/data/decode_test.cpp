#include "proca/data/decode.h"

#include <gtest/gtest.h>

#include "data/codec/decoders.h"
#include "data/codec/exif.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

#include "data/golden_files.h"
#include "support/temporary_folder.h"

namespace proca::data {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int64_t kWidth = 23;
constexpr int64_t kHeight = 17;

Bytes operator""_bytes(const char* text, size_t size) { return {text, text + size}; }

std::string error_of(const Bytes& bytes, const DecodeLimits& limits = {}) {
  try {
    decode_image(bytes, "album/cat", limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, text);
}

// A build without WebP, TIFF or GIF cannot decode those files, and says so.
bool is_readable_here(const std::filesystem::path& path) {
  return error_of(test::golden_bytes(path)).find("this build has no") == std::string::npos;
}

class GoldenImageTest : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    if (!is_readable_here(GetParam())) GTEST_SKIP() << "built without this format";
  }
  Bytes encoded_ = test::golden_bytes(GetParam());
  Bytes expected_ = test::golden_bytes(GetParam().string() + ".rgb");
};

TEST_P(GoldenImageTest, HasTheExpectedPixels) {
  const Image image = read_image(GetParam());
  EXPECT_EQ(image.width, kWidth);
  EXPECT_EQ(image.height, kHeight);
  EXPECT_EQ(image.pixels, expected_);
}

// How many bytes at the end of a file do not matter for its pixels.
size_t harmless_bytes(const std::filesystem::path& path) {
  if (path.stem() == "trailing_bytes") return 16;  // the end marker and what follows it
  if (path.extension() == ".jpg") return 2;        // the end marker
  if (path.extension() == ".png") return 12;       // the end chunk
  // The end marker of the file; of an animation the other pictures, too.
  if (path.extension() == ".gif") return path.stem() == "animated" ? 960 : 1;
  if (path.extension() == ".tif") return 4;  // where another picture would begin
  return 0;
}

TEST_P(GoldenImageTest, IsRefusedWhenTruncated) {
  const size_t harmless = harmless_bytes(GetParam());
  for (size_t size = 0; size < encoded_.size(); ++size) {
    const Bytes part(encoded_.begin(), encoded_.begin() + static_cast<int64_t>(size));
    try {
      EXPECT_EQ(decode_image(part, "part").pixels, expected_) << "of " << size << " bytes";
      EXPECT_LE(encoded_.size() - size, harmless) << "only " << size << " bytes";
    } catch (const InputError& error) {
      expect_contains(error.what(), "part: ");
    }
  }
}

TEST_P(GoldenImageTest, WithADamagedByteIsDecodedOrRefusedButNeverWorse) {
  const DecodeLimits limits{.max_pixels = 4096};
  for (size_t i = 0; i < encoded_.size(); ++i) {
    Bytes damaged = encoded_;
    damaged[i] ^= 0x55;
    try {
      const Image image = decode_image(damaged, "damaged", limits);
      EXPECT_LE(image.width * image.height, limits.max_pixels);
      EXPECT_EQ(static_cast<int64_t>(image.pixels.size()), image_bytes(image.width, image.height));
    } catch (const InputError&) {
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string() + "_" + info.param.extension().string().substr(1);
}

INSTANTIATE_TEST_SUITE_P(Images, GoldenImageTest, ::testing::ValuesIn(test::golden_images()),
                         test_name);

TEST(DecodeTest, RefusesWhatIsNotAnImage) {
  struct Case {
    Bytes bytes;
    const char* message;
  };
  const Case cases[] = {
      {{}, "album/cat: is empty, not an image"},
      {"x"_bytes, "not an image of a known format (JPEG, PNG, WebP, TIFF, GIF or BMP)"},
      {"path label\nbike/1.jpg 0\n"_bytes, "not an image of a known format"},
      {"GIF98a\1\0\1\0\0\0\0"_bytes, "not an image of a known format"},
      {"II*"_bytes, "not an image of a known format"},
      {"BM"_bytes, "cannot be decoded as a BMP image: it ends too early"},
      {"RIFF\x24\0\0\0WAVEfmt "_bytes, "not an image of a known format"},
      {{0xff, 0xd8, 0xff}, "cannot be decoded as a JPEG image: it ends too early"},
      {{0xff, 0xd8, 0xff, 0xd9}, "cannot be decoded as a JPEG image: "},
      {"\x89PNG\r\n\x1a\n"_bytes, "cannot be decoded as a PNG image: it ends too early"},
      {"\x89PNG\r\n\x1a\nnothing of use"_bytes, "cannot be decoded as a PNG image: "},
      {"RIFF\4\0\0\0WEBP"_bytes, "cannot be decoded as a WebP image: "},
  };
  for (const auto& [bytes, message] : cases) {
    expect_contains(error_of(bytes), message);
  }
}

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

// A header without pixels: its size must be refused before memory is allocated.
Bytes png_header(uint32_t width, uint32_t height) {
  using namespace std::string_literals;
  const std::string header = "IHDR" + big_endian(width) + big_endian(height) + "\x08\x02\0\0\0"s;
  const std::string file = "\x89PNG\r\n\x1a\n" + big_endian(13) + header +
                           big_endian(crc32(bytes_of(header))) + big_endian(16) + "IDAT";
  return {file.begin(), file.end()};
}

TEST(DecodeTest, RefusesSizesBeyondTheLimits) {
  expect_contains(error_of(png_header(100000, 100000)),
                  "album/cat: the image claims 100000 x 100000 pixels; the longest allowed "
                  "side is 65535");
  expect_contains(error_of(png_header(20000, 20000)),
                  "the image claims 20000 x 20000 pixels; at most 100000000 are allowed");
  expect_contains(error_of(png_header(0, 5)), "cannot be decoded as a PNG image");
}

TEST(DecodeTest, HonoursTheLimitsOfTheCallerForEveryFormat) {
  for (const char* name : {"images/rgb_444.jpg", "images/rgb.png", "images/lossy.webp",
                           "images/rgb.tif", "images/palette.gif", "images/rgb_24.bmp"}) {
    const auto path = test::golden_folder() / name;
    if (!is_readable_here(path)) continue;
    EXPECT_NO_THROW(read_image(path, {.max_pixels = kWidth * kHeight, .max_side = kWidth}));
    const Bytes bytes = test::golden_bytes(path);
    expect_contains(error_of(bytes, {.max_pixels = kWidth * kHeight - 1}), "at most 390");
    expect_contains(error_of(bytes, {.max_side = kWidth - 1}), "longest allowed side is 22");
  }
}

// The file has ten.
TEST(DecodeTest, RefusesMoreScansThanAllowed) {
  const auto bytes = test::golden_bytes(test::golden_folder() / "images/progressive.jpg");
  EXPECT_EQ(error_of(bytes, {.max_scans = 10}), "no error");
  expect_contains(error_of(bytes, {.max_scans = 9}),
                  "cannot be decoded as a JPEG image: it has more than 9 scans");
}

// So few bytes cannot hold so many pixels, however well they are compressed.
TEST(DecodeTest, TakesNoMemoryForPixelsThatCannotBeThere) {
  Image image;
  const auto bytes = png_header(10'000, 10'000);  // 57 bytes for 300 MB
  EXPECT_THROW(decode_png({bytes, "album/cat", {}}, image), InputError);
  EXPECT_EQ(image.pixels.capacity(), 0u);
}

// 10,000 x 10,000 pixels, of which the codes could hold a few thousand.
TEST(DecodeTest, TakesNoMemoryForGifPixelsThatCannotBeThere) {
  const auto path = test::golden_folder() / "images/palette.gif";
  if (!is_readable_here(path)) GTEST_SKIP() << "built without GIF";
  const auto bytes = "GIF89a\x10'\x10'\0\0\0,\0\0\0\0\x10'\x10'\0\2\2D\1\0;"_bytes;
  Image image;
  EXPECT_THROW(decode_gif({bytes, "album/cat", {}}, image), InputError);
  EXPECT_EQ(image.pixels.capacity(), 0u);
  expect_contains(error_of(bytes), "cannot be decoded as a GIF image: it ends too early");
}

std::string little_endian(uint32_t value, int num_bytes) {
  std::string bytes;
  for (int i = 0; i < num_bytes; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Grey, in one strip of eight bytes.
Bytes tiff_header(uint32_t codec, uint32_t side) {
  constexpr uint32_t kShort = 3, kLong = 4;
  const struct {
    uint32_t tag, type, value;
  } fields[] = {{256, kLong, side},   {257, kLong, side}, {258, kShort, 8},
                {259, kShort, codec}, {262, kShort, 1},   {273, kLong, 8},
                {277, kShort, 1},     {278, kLong, side}, {279, kLong, 8}};
  auto file = "II*" + std::string(1, '\0') + little_endian(16, 4) + std::string(8, '\0') +
              little_endian(static_cast<uint32_t>(std::size(fields)), 2);
  for (const auto& [tag, type, value] : fields) {
    file += little_endian(tag, 2) + little_endian(type, 2) + little_endian(1, 4) +
            little_endian(value, 4);
  }
  file += little_endian(0, 4);
  return {file.begin(), file.end()};
}

// Uncompressed, LZW, deflate by both of its numbers, PackBits.
TEST(DecodeTest, RefusesTiffsThatCannotHoldTheirPixels) {
  if (!is_readable_here(test::golden_folder() / "images/rgb.tif")) {
    GTEST_SKIP() << "built without TIFF";
  }
  for (const uint32_t codec : {1u, 5u, 8u, 32946u, 32773u}) {
    expect_contains(error_of(tiff_header(codec, 10'000)),
                    "cannot be decoded as a TIFF image: it ends too early");
  }
}

// Texts, colour profiles and the like: neither read nor believed.
TEST(DecodeTest, PassesOverChunksThatHoldNoPixels) {
  const auto bytes = test::golden_bytes(test::golden_folder() / "images/rgb.png");
  const auto with_chunk = [&](const std::string& content, uint32_t claimed) {
    const auto chunk = big_endian(claimed) + content + big_endian(crc32(bytes_of(content)));
    auto longer = bytes;
    longer.insert(longer.begin() + 33, chunk.begin(), chunk.end());  // behind the header
    return longer;
  };
  for (const std::string type : {"tEXt", "zTXt", "iCCP", "eXIf", "sPLT"}) {
    EXPECT_EQ(error_of(with_chunk(type + "damaged", 7)), "no error") << type;
    // A gigabyte.
    expect_contains(error_of(with_chunk(type + "damaged", 1 << 30)), "it ends too early");
  }
}

TEST(DecodeTest, RefusesAnimatedWebp) {
  const auto path = test::golden_folder() / "animated.webp";
  if (!is_readable_here(path)) GTEST_SKIP() << "built without WebP";
  expect_contains(error_of(test::golden_bytes(path)), "animations are not supported");
}

TEST(DecodeTest, RefusesBrokenFilesOfEveryFormat) {
  int64_t refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::golden_folder() / "broken")) {
    const auto bytes = test::golden_bytes(entry.path());
    const auto error = error_of(bytes);
    EXPECT_TRUE(error.starts_with("album/cat: ")) << entry.path() << ": " << error;
    refused += error != "no error" ? 1 : 0;
  }
  EXPECT_EQ(refused, 26);
}

TEST(DecodeTest, SaysWhatIsWrongWithBrokenFiles) {
  const struct {
    const char *file, *problem;
  } cases[] = {
      {"cut_rows.bmp", "it ends too early"},
      {"huge.bmp", "claims 60000 x 60000 pixels"},
      {"rle.bmp", "run-length compression is not supported"},
      {"too_many_colours.bmp", "it claims 1073741824 colours with 8 bits per pixel"},
      {"masks_with_gaps.bmp", "the bits of its colours have gaps"},
      {"unknown_header.bmp", "a header of 41000 bytes"},
      {"no_picture.gif", "it holds no picture"},
      {"cut_rows.gif", "it ends too early"},
      {"empty_picture.gif", "the image is empty: 0 x 4 pixels"},
      {"huge.gif", "claims 65535 x 65535 pixels"},
      {"too_short_for_its_rows.tif", "it ends too early"},
      {"rare_compression.tif", "compression 34676 is not supported"},
      {"huge.tif", "claims 60000 x 60000 pixels"},
  };
  for (const auto& [file, problem] : cases) {
    const auto path = test::golden_folder() / "broken" / file;
    if (is_readable_here(path)) expect_contains(error_of(test::golden_bytes(path)), problem);
  }
}

// Memory for pixels that cannot be there is not even asked for.
TEST(DecodeTest, TakesNoMemoryForRowsBeyondTheEndOfTheFile) {
  for (const char* file : {"cut_rows.bmp", "huge.bmp", "too_short_for_its_rows.tif", "huge.gif"}) {
    const auto bytes = test::golden_bytes(test::golden_folder() / "broken" / file);
    Image image;
    const std::string_view name(file);
    const auto decode = name.ends_with("bmp")   ? decode_bmp
                        : name.ends_with("gif") ? decode_gif
                                                : decode_tiff;
    EXPECT_THROW(decode({bytes, "album/cat", {}}, image), InputError) << file;
    EXPECT_EQ(image.pixels.capacity(), 0u) << file;
  }
}

TEST(OrientationTest, UprightIsWhatPillowMakesOfEveryFormat) {
  const auto folder = test::golden_folder() / "orientation";
  int64_t checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".rgb" || !is_readable_here(entry.path())) continue;
    const auto stored = read_image(entry.path());
    EXPECT_EQ(stored.orientation, entry.path().stem().string()[0] - '0') << entry.path();
    EXPECT_EQ(stored.width, kWidth);
    const auto seen = upright(stored);
    EXPECT_EQ(seen.width, stored.orientation < 5 ? kWidth : kHeight);
    EXPECT_EQ(seen.orientation, 1);
    EXPECT_EQ(seen.pixels, test::golden_bytes(entry.path().string() + ".rgb")) << entry.path();
    ++checked;
  }
  EXPECT_GE(checked, 9);
}

std::string exif_block(const std::string& entry) {
  using namespace std::string_literals;
  return "II*\0\x08\0\0\0\x01\0"s + entry + "\0\0\0\0"s;
}

uint8_t orientation_of(const std::string& block) { return exif_orientation(bytes_of(block)); }

TEST(OrientationTest, DamagedNotesLeaveTheImageAsItIs) {
  using namespace std::string_literals;
  const auto tag = "\x12\x01"s;
  EXPECT_EQ(orientation_of(exif_block(tag + "\3\0\1\0\0\0\6\0\0\0"s)), 6);
  const struct {
    std::string block;
    const char* why;
  } cases[] = {
      {"", "nothing"},
      {"II*\0"s, "no directory"},
      {"II*\0\xff\xff\xff\xff"s, "a directory beyond the end"},
      {"XX*\0\x08\0\0\0\x01\0"s, "no byte order"},
      {exif_block(tag + "\3\0\1\0\0\0\6"s).substr(0, 17), "an entry that is cut off"},
      {exif_block(tag + "\3\0\1\0\0\0\0\0\0\0"s), "orientation 0"},
      {exif_block(tag + "\3\0\1\0\0\0\x09\0\0\0"s), "orientation 9"},
      {exif_block(tag + "\4\0\1\0\0\0\6\0\0\0"s), "another type"},
      {exif_block(tag + "\3\0\2\0\0\0\6\0\0\0"s), "two values"},
      {exif_block("\x13\x01\3\0\1\0\0\0\6\0\0\0"s), "another tag"},
  };
  for (const auto& [block, why] : cases) EXPECT_EQ(orientation_of(block), 1) << why;
}

TEST(ReadImageTest, GoesByTheContentWhateverTheFileIsCalled) {
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(test::golden_folder() / "images" / "rgb.png", folder / "picture.jpg");
  EXPECT_EQ(read_image(folder / "picture.jpg").width, kWidth);
}

TEST(ReadImageTest, NamesTheFileItCannotRead) {
  const test::TemporaryFolder folder;
  write_file(folder / "notes.jpg", "no picture");
  for (const auto& path : {folder / "missing.jpg", folder / "notes.jpg", folder.path()}) {
    try {
      read_image(path);
      ADD_FAILURE() << path;
    } catch (const InputError& error) {
      expect_contains(error.what(), path.string());
    }
  }
}

}  // namespace
}  // namespace proca::data

#include "data/codec/encode_jpeg.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/data/decode.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::data {
namespace {

Image there_and_back(ImageView image, int quality) {
  const test::TemporaryFolder folder;
  const auto bytes = encode_jpeg(image, quality);
  write_file(folder / "a.jpg", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return read_image(folder / "a.jpg");
}

TEST(EncodeJpegTest, AnyDecoderReadsItBack) {
  const auto image = test::colour_image(33, 17, {10, 200, 120});
  const auto read = there_and_back(image, 95);
  ASSERT_EQ(read.width, 33);
  ASSERT_EQ(read.height, 17);
  for (size_t i = 0; i < read.pixels.size(); ++i) EXPECT_NEAR(read.pixels[i], image.pixels[i], 3);
}

TEST(EncodeJpegTest, RowsMayHaveGaps) {
  auto image = test::grey_image(20, 8, 250);
  for (int64_t y = 0; y < 8; ++y) {
    for (int64_t x = 0; x < 8 * 3; ++x) image.pixels[static_cast<size_t>(y * 60 + x)] = 50;
  }
  const auto read = there_and_back(ImageView(image.pixels.data(), 8, 8, 60), 90);
  EXPECT_EQ(read.width, 8);
  for (const auto level : read.pixels) EXPECT_NEAR(level, 50, 3);
}

TEST(EncodeJpegTest, LowerQualityIsSmaller) {
  const auto image = test::coordinate_image(64, 64);
  EXPECT_LT(encode_jpeg(image, 20).size(), encode_jpeg(image, 95).size());
}

TEST(EncodeJpegTest, RefusesImagesThatCannotBeWritten) {
  EXPECT_THROW(encode_jpeg(Image{}, 80), std::invalid_argument);
  // JPEG knows at most 65,500 pixels a side.
  EXPECT_THROW(encode_jpeg(test::grey_image(70000, 1, 0), 80), Error);
}

}  // namespace
}  // namespace proca::data

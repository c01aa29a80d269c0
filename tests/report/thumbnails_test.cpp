#include "report/images/thumbnails.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "proca/data/decode.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::report {
namespace {

const std::string kPrefix = "data:image/jpeg;base64,";

// The bytes behind a data URL, by a decoder of its own.
std::string decoded(const std::string& text) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(alphabet.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

data::Image picture_of(const std::string& url) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(url.substr(0, kPrefix.size()), kPrefix);
  write_file(folder / "a.jpg", decoded(url.substr(kPrefix.size())));
  return data::read_image(folder / "a.jpg");
}

TEST(ThumbnailsTest, Base64MatchesTheExamplesOfTheStandard) {
  // RFC 4648, section 10
  const std::vector<std::pair<std::string, std::string>> cases = {{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(base64(bytes_of(bytes)), text);
  EXPECT_EQ(base64(bytes_of("\xff\xfe\xfd")), "//79");
}

TEST(ThumbnailsTest, SmallImagesKeepTheirSizeAndColours) {
  const auto picture = picture_of(thumbnail_url(test::colour_image(20, 12, {200, 40, 90})));
  EXPECT_EQ(picture.width, 20);
  EXPECT_EQ(picture.height, 12);
  EXPECT_NEAR(picture.pixels[0], 200, 4);  // JPEG loses a little.
  EXPECT_NEAR(picture.pixels[1], 40, 4);
  EXPECT_NEAR(picture.pixels[2], 90, 4);
}

TEST(ThumbnailsTest, LargeImagesShrinkInProportion) {
  const auto wide = picture_of(thumbnail_url(test::grey_image(192, 64, 100)));
  EXPECT_EQ(wide.width, 96);
  EXPECT_EQ(wide.height, 32);
  const auto thin = picture_of(thumbnail_url(test::grey_image(1, 500, 100)));
  EXPECT_EQ(thin.width, 1);
  EXPECT_EQ(thin.height, 96);
}

TEST(ThumbnailsTest, RefusesAnImageWithoutPixels) {
  EXPECT_THROW(thumbnail_url(data::Image{}), std::invalid_argument);
}

}  // namespace
}  // namespace proca::report

#include "data/pixels/resize.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "proca/core/error.h"

#include "data/crops.h"
#include "data/golden_files.h"
#include "data/pixels/resize_kernels.h"

namespace proca::data {
namespace {

Image grey_row(const std::vector<uint8_t>& levels) {
  Image image{static_cast<int64_t>(levels.size()), 1, {}};
  for (const uint8_t level : levels) image.pixels.insert(image.pixels.end(), 3, level);
  return image;
}

TEST(ResizeTest, AveragesWithATriangleWhenShrinking) {
  // 4 to 2: output 0 lies at 1, the triangle reaches 2 to each side. Weights at
  // distances 0.5, 0.5 and 1.5 (the fourth is outside): 0.75, 0.75, 0.25, sum 1.75.
  const Image result = resize(grey_row({0, 70, 140, 210}), 2, 1);
  // (70 * 0.75 + 140 * 0.25) / 1.75 = 50, and 210 - 50 by symmetry.
  EXPECT_EQ(result.pixels, grey_row({50, 160}).pixels);
}

TEST(ResizeTest, InterpolatesWhenGrowing) {
  // 2 to 4: outputs lie at 0.25, 0.75, 1.25, 1.75 between the centres 0.5 and 1.5.
  const Image result = resize(grey_row({0, 200}), 4, 1);
  EXPECT_EQ(result.pixels, grey_row({0, 50, 150, 200}).pixels);
}

TEST(ResizeTest, KeepsAUniformColour) {
  Image image = Image::black(37, 41);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = uint8_t(i % 3 * 127 + 1);
  for (const auto& [width, height] : {std::pair{5, 3}, {100, 90}, {37, 1}, {1, 41}}) {
    const Image result = resize(image, width, height);
    ASSERT_EQ(std::ssize(result.pixels), image_bytes(width, height));
    for (size_t i = 0; i < result.pixels.size(); ++i) {
      ASSERT_EQ(result.pixels[i], i % 3 * 127 + 1) << width << " x " << height;
    }
  }
}

TEST(ResizeTest, WritesIntoTheGivenMemoryAndNowhereElse) {
  const Image source = test::pattern_image(31, 29);
  const Image expected = resize(source, 13, 17);
  std::vector<uint8_t> memory(expected.pixels.size() + 64, 0xab);
  resized_crop_into(source, {0, 0, 31, 29}, 13, 17, Flip::kNone,
                    std::span(memory).subspan(32, expected.pixels.size()));
  EXPECT_TRUE(std::equal(expected.pixels.begin(), expected.pixels.end(), memory.begin() + 32));
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(memory[i], 0xab);
    EXPECT_EQ(memory[memory.size() - 1 - i], 0xab);
  }
}

// Every processor must give the same pixels, whichever loop it runs.
TEST(ResizeTest, IsTheSameInEveryImplementation) {
  if (avx2_kernels() == nullptr) GTEST_SKIP() << "no AVX2 here";
  for (const int64_t in : {1, 2, 3, 5, 8, 31, 64, 300, 1001}) {
    for (const int64_t out : {1, 2, 3, 7, 33, 224}) {
      const auto filter = axis_filter(in, out);
      for (const int64_t other : {1, 3, 4, 6, 23}) {
        const Image wide = test::pattern_image(in, other);
        Image expected = Image::black(out, other), actual = expected;
        portable_kernels().columns(wide, *filter, expected.pixels.data());
        avx2_kernels()->columns(wide, *filter, actual.pixels.data());
        ASSERT_EQ(expected.pixels, actual.pixels) << in << " to " << out << ", " << other;

        const Image tall = test::pattern_image(other, in);
        const int64_t row_bytes = other * Image::kChannels;
        auto expected_row = Image::black(other, 1).pixels, actual_row = expected_row;
        for (const Taps& taps : filter->taps) {
          const uint8_t* first = ImageView(tall).row(taps.first);
          portable_kernels().row(first, row_bytes, row_bytes, *filter, taps, expected_row.data());
          avx2_kernels()->row(first, row_bytes, row_bytes, *filter, taps, actual_row.data());
          ASSERT_EQ(expected_row, actual_row) << in << " to " << out << ", " << other;
        }
      }
    }
  }
}

TEST(ResizeTest, RefusesEmptySizes) {
  const Image image = test::pattern_image(4, 3);
  for (const auto& [width, height] : {std::pair{0, 5}, {5, 0}, {-1, 5}, {5, -1}}) {
    EXPECT_THROW(resize(image, width, height), std::invalid_argument);
  }
  EXPECT_THROW(resize(Image{}, 5, 5), std::invalid_argument);
  EXPECT_THROW(resize_shorter_side(image, 0), std::invalid_argument);
  EXPECT_THROW(resize_shorter_side(Image{}, 5), std::invalid_argument);
}

TEST(ResizeTest, RefusesMemoryOfAnotherSize) {
  const Image image = test::pattern_image(4, 3);
  std::vector<uint8_t> memory(2 * 2 * 3 + 1);
  for (const auto& slot : {std::span(memory), std::span(memory).first(11)}) {
    EXPECT_THROW(resized_crop_into(image, {0, 0, 4, 3}, 2, 2, Flip::kNone, slot),
                 std::invalid_argument);
  }
}

TEST(ResizeShorterSideTest, RefusesAThinImageThatWouldGrowEnormous) {
  EXPECT_THROW(resize_shorter_side(Image::black(1, 60000), 224), InputError);
}

TEST(ResizedCropTest, EqualsCroppingThenResizingThenFlipping) {
  const Image source = test::pattern_image(40, 30);
  const Box box{.left = 11, .top = 5, .width = 21, .height = 19};
  const Image plain = resize(test::crop(source, box), 8, 9);
  EXPECT_EQ(test::resized_crop(source, box, 8, 9).pixels, plain.pixels);
  EXPECT_EQ(test::resized_crop(source, box, 8, 9, Flip::kHorizontal).pixels,
            test::flipped(plain).pixels);
}

TEST(ResizedCropTest, RefusesABoxOutsideTheImage) {
  EXPECT_THROW(test::resized_crop(test::pattern_image(4, 4), {2, 0, 3, 3}, 2, 2),
               std::invalid_argument);
}

}  // namespace
}  // namespace proca::data

#include "proca/data/crop.h"

#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "data/crops.h"

namespace proca::data {
namespace {

// Every pixel says where it was: (column, row, 1).
Image coordinates(int64_t width, int64_t height) {
  Image image{width, height, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      image.pixels.insert(image.pixels.end(), {uint8_t(x), uint8_t(y), 1});
    }
  }
  return image;
}

using Bytes = std::vector<uint8_t>;
using test::crop;

TEST(CropTest, CutsTheRectangle) {
  const Image result = crop(coordinates(5, 4), {2, 1, 2, 3});
  EXPECT_EQ(result.width, 2);
  EXPECT_EQ(result.height, 3);
  EXPECT_EQ(result.pixels, (Bytes{2, 1, 1, 3, 1, 1, 2, 2, 1, 3, 2, 1, 2, 3, 1, 3, 3, 1}));
}

TEST(CropTest, OfAViewRefersToTheSamePixels) {
  const Image image = coordinates(5, 4);
  const ImageView outer = crop_view(image, {.left = 1, .top = 1, .width = 4, .height = 3});
  const ImageView inner = crop_view(outer, {.left = 1, .top = 1, .width = 2, .height = 2});
  EXPECT_EQ(inner.pixels, image.pixels.data() + (2 * 5 + 2) * 3);
  EXPECT_EQ(crop(outer, {1, 1, 2, 2}).pixels, crop(image, {2, 2, 2, 2}).pixels);
}

TEST(CropTest, RefusesABoxThatIsEmptyOrOutside) {
  const Image image = coordinates(5, 4);
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  const Box boxes[] = {{0, 0, 6, 4},  {0, 0, 5, 5},  {1, 0, 5, 4},     {0, 1, 5, 4},
                       {-1, 0, 2, 2}, {0, -1, 2, 2}, {0, 0, 0, 4},     {0, 0, 5, 0},
                       {5, 4, 1, 1},  {0, 0, -1, 1}, {1, 1, kHuge, 1}, {kHuge, 0, 1, 1}};
  for (const Box& box : boxes) {
    EXPECT_THROW(copy_crop(image, box, Flip::kNone, {}), std::invalid_argument);
    EXPECT_THROW(crop_view(image, box), std::invalid_argument);
  }
}

TEST(CentreBoxTest, RoundsHalvesToEven) {
  EXPECT_EQ(centre_box(5, 5, 4).left, 0);   // 0.5
  EXPECT_EQ(centre_box(7, 7, 4).left, 2);   // 1.5
  EXPECT_EQ(centre_box(9, 9, 4).left, 2);   // 2.5
  EXPECT_EQ(centre_box(11, 4, 4).left, 4);  // 3.5
  EXPECT_EQ(centre_box(11, 4, 4).top, 0);
  EXPECT_EQ(centre_box(10, 10, 4).top, 3);
}

TEST(CentreBoxTest, RefusesAnImpossibleSize) {
  EXPECT_THROW(centre_box(5, 5, 6), std::invalid_argument);
  EXPECT_THROW(centre_box(5, 3, 4), std::invalid_argument);
  EXPECT_THROW(centre_box(5, 5, 0), std::invalid_argument);
}

TEST(CopyCropTest, ExchangesLeftAndRightOfEveryRow) {
  EXPECT_EQ(test::flipped(coordinates(3, 2)).pixels,
            (Bytes{2, 0, 1, 1, 0, 1, 0, 0, 1, 2, 1, 1, 1, 1, 1, 0, 1, 1}));
}

TEST(CopyCropTest, MirrorsWithinTheBox) {
  const Image image = coordinates(4, 3);
  Bytes slot(2 * 1 * 3);
  copy_crop(image, {1, 2, 2, 1}, Flip::kNone, slot);
  EXPECT_EQ(slot, (Bytes{1, 2, 1, 2, 2, 1}));
  copy_crop(image, {1, 2, 2, 1}, Flip::kHorizontal, slot);
  EXPECT_EQ(slot, (Bytes{2, 2, 1, 1, 2, 1}));
}

TEST(CopyCropTest, RefusesMemoryOfAnotherSize) {
  Bytes slot(2 * 2 * 3 - 1);
  EXPECT_THROW(copy_crop(coordinates(4, 3), {0, 0, 2, 2}, Flip::kNone, slot),
               std::invalid_argument);
}

TEST(ImageViewTest, RefusesBytesThatDoNotMatchTheSize) {
  const Bytes bytes(11);
  EXPECT_THROW(ImageView(bytes, 2, 2), std::invalid_argument);
  EXPECT_THROW(ImageView(bytes, -1, -1), std::invalid_argument);
}

}  // namespace
}  // namespace proca::data

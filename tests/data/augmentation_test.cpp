#include "proca/data/augmentation.h"

#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/message_of.h"
#include "support/test_images.h"

#include "data/crops.h"

namespace proca::data {
namespace {

using test::coordinate_image;
using test::grey_image;
using Bytes = std::vector<uint8_t>;

Bytes apply(const Augmentation& augmentation, const Image& image, uint64_t draw = 0) {
  RandomStream random(0, "test", draw);
  Bytes result(static_cast<size_t>(example_bytes(augmentation)));
  augmentation.apply(image, random, result);
  return result;
}

TEST(AugmentationTest, TheCentreIsCutOut) {
  const auto image = coordinate_image(6, 4);
  EXPECT_EQ(apply({.image_size = 2}, image), test::crop(image, {2, 1, 2, 2}).pixels);
}

TEST(AugmentationTest, WhatIsChosenIsWhatIsShown) {
  const auto image = coordinate_image(9, 7);
  for (const auto crop : {Crop::kCentre, Crop::kRandom, Crop::kRandomResized}) {
    const Augmentation augmentation{.image_size = 4, .crop = crop, .flip_probability = 0.5};
    for (uint64_t draw = 0; draw < 50; ++draw) {
      RandomStream random(0, "test", draw);
      const auto [box, flip] = augmentation.choose(9, 7, random);
      Bytes shown(static_cast<size_t>(example_bytes(augmentation)));
      resized_crop_into(image, box, 4, 4, flip, shown);
      ASSERT_EQ(apply(augmentation, image, draw), shown);
    }
  }
}

TEST(AugmentationTest, AnImageOfTheRightSizeIsKeptWhole) {
  const auto image = coordinate_image(5, 5);
  for (const auto crop : {Crop::kCentre, Crop::kRandom}) {
    EXPECT_EQ(apply({.image_size = 5, .crop = crop}, image), image.pixels);
  }
}

TEST(AugmentationTest, RandomCropsReachEveryPlaceAndNoOther) {
  const auto image = coordinate_image(6, 5);
  std::set<std::pair<int, int>> places;
  for (uint64_t draw = 0; draw < 200; ++draw) {
    const auto result = apply({.image_size = 4, .crop = Crop::kRandom}, image, draw);
    places.insert({result[0], result[1]});
    ASSERT_EQ(result, test::crop(image, {result[0], result[1], 4, 4}).pixels);
  }
  EXPECT_EQ(places,
            (std::set<std::pair<int, int>>{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}}));
}

TEST(AugmentationTest, FlipsNeverAlwaysOrHalfOfTheTime) {
  const auto image = coordinate_image(3, 3);
  const auto mirrored = test::flipped(image).pixels;
  int num_flipped = 0;
  for (uint64_t draw = 0; draw < 400; ++draw) {
    EXPECT_EQ(apply({.image_size = 3, .flip_probability = 0}, image, draw), image.pixels);
    EXPECT_EQ(apply({.image_size = 3, .flip_probability = 1}, image, draw), mirrored);
    num_flipped += apply({.image_size = 3, .flip_probability = 0.5}, image, draw) == mirrored;
  }
  EXPECT_NEAR(num_flipped, 200, 50);  // 5 standard deviations
}

TEST(AugmentationTest, ARandomResizedCropIsFlippedToo) {
  const auto image = coordinate_image(40, 40);
  const Augmentation plain{.image_size = 8, .crop = Crop::kRandomResized};
  const Augmentation flipped{.image_size = 8, .crop = Crop::kRandomResized, .flip_probability = 1};
  for (uint64_t draw = 0; draw < 20; ++draw) {
    const Image result{8, 8, apply(plain, image, draw)};
    EXPECT_EQ(apply(flipped, image, draw), test::flipped(result).pixels);
  }
}

// On a linear ramp the result tells its box: interior pixels show the source
// coordinate they lie on, rounded.
TEST(AugmentationTest, RandomResizedCropsKeepToTheirAreaAndAspectRatio) {
  constexpr int64_t kSide = 200, kSize = 32;
  const auto image = coordinate_image(kSide, kSide);
  double smallest = 1, largest = 0, flattest = 1, widest = 1;
  for (uint64_t draw = 0; draw < 500; ++draw) {
    const auto result = apply({.image_size = kSize, .crop = Crop::kRandomResized}, image, draw);
    const auto side_from = [&](size_t channel, size_t step) {
      const double from = result[8 * step + channel], to = result[24 * step + channel];
      const double length = (to - from) * kSize / 16;  // within 2 pixels
      const double begin = from + 0.5 - length * 8.5 / kSize;
      EXPECT_GE(begin, -2.5);
      EXPECT_LE(begin + length, kSide + 2.5);
      return length;
    };
    const double width = side_from(0, 3), height = side_from(1, 3 * kSize);
    const double area = width * height / (kSide * kSide);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    flattest = std::min(flattest, width / height);
    widest = std::max(widest, width / height);
  }
  // Near the ends of the ranges, and not beyond but for the rounding above.
  EXPECT_GT(smallest, 0.08 - 0.015);
  EXPECT_LT(smallest, 0.12);
  EXPECT_LT(largest, 1.02);
  EXPECT_GT(largest, 0.9);
  EXPECT_GT(flattest, 0.75 - 0.06);
  EXPECT_LT(flattest, 0.80);
  EXPECT_LT(widest, 4.0 / 3.0 + 0.1);
  EXPECT_GT(widest, 1.25);
}

TEST(AugmentationTest, OfAnImageTooLongForAnyBoxTheMiddleIsTaken) {
  // No box of 8 % of the area has an allowed aspect ratio, so it is the
  // largest centred one: 13 x 10 pixels of 1000 x 10.
  const auto image = coordinate_image(1000, 10);
  const Augmentation augmentation{.image_size = 7, .crop = Crop::kRandomResized};
  EXPECT_EQ(apply(augmentation, image), test::resized_crop(image, {493, 0, 13, 10}, 7, 7).pixels);
  const auto tall = coordinate_image(10, 1000);
  EXPECT_EQ(apply(augmentation, tall), test::resized_crop(tall, {0, 493, 10, 13}, 7, 7).pixels);
}

TEST(AugmentationTest, ARandomResizedCropEnlargesASmallImage) {
  const Augmentation augmentation{.image_size = 5, .crop = Crop::kRandomResized};
  EXPECT_EQ(apply(augmentation, grey_image(1, 1, 77)), grey_image(5, 5, 77).pixels);
  EXPECT_EQ(apply(augmentation, grey_image(3, 2, 9)), grey_image(5, 5, 9).pixels);
}

TEST(AugmentationTest, RefusesACropLargerThanTheImage) {
  for (const auto crop : {Crop::kCentre, Crop::kRandom}) {
    for (const auto& [width, height] : {std::pair{4, 5}, {5, 4}, {1, 1}}) {
      EXPECT_EQ(test::message_of([&, w = width, h = height] {
                  apply({.image_size = 5, .crop = crop}, coordinate_image(w, h));
                }),
                "a crop of 5 x 5 pixels does not fit into " + std::to_string(width) + " x " +
                    std::to_string(height));
    }
  }
}

TEST(ExampleBytesTest, IsThreePerPixel) { EXPECT_EQ(example_bytes({.image_size = 224}), 150528); }

}  // namespace
}  // namespace proca::data

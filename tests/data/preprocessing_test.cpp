#include "proca/data/preprocessing.h"

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca::data {
namespace {

TEST(PreprocessingTest, ByDefaultTheWholeImageIsResizedToTheCrop) {
  const Preprocessing preprocessing{.image_size = 96};
  EXPECT_EQ(preprocessing.resolved_resize().mode, ResizeOptions::Mode::kExact);
  EXPECT_EQ(preprocessing.resolved_resize().size, 96);
  EXPECT_EQ(preprocessing.centre_crop().image_size, 96);
  EXPECT_EQ(preprocessing.centre_crop().crop, Crop::kCentre);
  EXPECT_EQ(preprocessing.centre_crop().flip_probability, 0);
  EXPECT_NO_THROW(preprocessing.validate());
}

TEST(PreprocessingTest, AGivenResizeIsKept) {
  const Preprocessing preprocessing{
      .image_size = 224, .resize = {.mode = ResizeOptions::Mode::kShorterSide, .size = 256}};
  EXPECT_EQ(preprocessing.resolved_resize().mode, ResizeOptions::Mode::kShorterSide);
  EXPECT_EQ(preprocessing.resolved_resize().size, 256);
  EXPECT_NO_THROW(preprocessing.validate());
}

TEST(PreprocessingTest, TheResizeMayEqualTheCropButNotBeSmaller) {
  EXPECT_NO_THROW((Preprocessing{.image_size = 224, .resize = {.size = 224}}.validate()));
  EXPECT_EQ(test::message_of<InvalidOption>(
                [] { Preprocessing{.image_size = 224, .resize = {.size = 223}}.validate(); }),
            "--resize: 223 is smaller than the crop of 224 pixels");
}

}  // namespace
}  // namespace proca::data

#include "proca/data/image_store.h"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>

#include "data/pixels/resize.h"
#include "proca/core/error.h"
#include "support/memory_images.h"
#include "support/message_of.h"
#include "support/test_images.h"

namespace proca::data {
namespace {

using test::coordinate_image;
using test::MemoryImages;
using test::message_of;

constexpr int64_t kImageBytes = 4 * 4 * 3;
constexpr ResizeOptions kToFour{.mode = ResizeOptions::Mode::kExact, .size = 4};

std::vector<Image> some_images(int64_t count) {
  std::vector<Image> images;
  for (int64_t i = 0; i < count; ++i) {
    images.push_back(coordinate_image(5 + i, 9 - i, static_cast<uint8_t>(10 * i)));
  }
  return images;
}

std::vector<uint8_t> pixels_of(const ImageStore& store, int64_t index) {
  Image scratch;
  const auto view = store.load(index, scratch);
  EXPECT_EQ(view.row_stride, view.width * 3);
  return {view.pixels, view.pixels + view.height * view.row_stride};
}

TEST(ResizeOptionsTest, ExactIgnoresTheAspectRatio) {
  const auto image = coordinate_image(8, 3);
  const auto resized = kToFour.apply(image);
  EXPECT_EQ(resized.pixels, resize(image, 4, 4).pixels);
  const auto kept = coordinate_image(4, 4);
  EXPECT_EQ(kToFour.apply(kept).pixels, kept.pixels);
}

TEST(ResizeOptionsTest, ShorterSideKeepsTheAspectRatio) {
  const ResizeOptions options{.mode = ResizeOptions::Mode::kShorterSide, .size = 4};
  const auto wide = options.apply(coordinate_image(20, 10));
  EXPECT_EQ(wide.width, 8);
  EXPECT_EQ(wide.height, 4);
  const auto tall = options.apply(coordinate_image(4, 9));
  EXPECT_EQ(tall.width, 4);
  EXPECT_EQ(tall.height, 9);
}

TEST(ResizeOptionsTest, TurnsImagesUprightUnlessTheyAreWantedAsStored) {
  auto lying = coordinate_image(4, 2);
  lying.orientation = 6;
  ResizeOptions options{.mode = ResizeOptions::Mode::kShorterSide, .size = 2};
  const auto seen = options.apply(lying);
  EXPECT_EQ(seen.width, 2);
  EXPECT_EQ(seen.height, 4);
  EXPECT_EQ(seen.pixels, upright(lying).pixels);
  options.orientation = Orientation::kStored;
  EXPECT_EQ(options.apply(lying).pixels, lying.pixels);
}

TEST(ImageStoreTest, GivesTheSamePixelsWhateverTheBudget) {
  const auto images = some_images(5);
  for (const int64_t budget : {int64_t{0}, int64_t{1}, 2 * kImageBytes + 5, 5 * kImageBytes}) {
    for (const int64_t threads : {1, 3}) {
      const ImageStore store(std::make_shared<MemoryImages>(images),
                             {.resize = kToFour, .cache_bytes = budget, .threads = threads});
      ASSERT_EQ(store.size(), 5);
      for (int64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(pixels_of(store, i), resize(images[static_cast<size_t>(i)], 4, 4).pixels)
            << budget;
      }
    }
  }
}

TEST(ImageStoreTest, KeepsAsManyImagesAsTheBudgetHolds) {
  const struct {
    int64_t budget, cached;
  } cases[] = {
      {0, 0},
      {kImageBytes - 1, 0},
      {kImageBytes, kImageBytes},
      {3 * kImageBytes - 1, 2 * kImageBytes},
      {5 * kImageBytes, 5 * kImageBytes},
      {1000 * kImageBytes, 5 * kImageBytes},
  };
  for (const auto& [budget, cached] : cases) {
    const ImageStore store(std::make_shared<MemoryImages>(some_images(5)),
                           {.resize = kToFour, .cache_bytes = budget});
    EXPECT_EQ(store.cached_bytes(), cached) << budget;
  }
}

TEST(ImageStoreTest, DecodesACachedImageOnceAndTheOthersOnEachUse) {
  const auto source = std::make_shared<MemoryImages>(some_images(5));
  const ImageStore store(source, {.resize = kToFour, .cache_bytes = 2 * kImageBytes + 5});
  // Two that fit and one that does not; decoding the rest now would be in vain.
  EXPECT_EQ(source->num_reads(), 3);
  for (int64_t i = 0; i < 5; ++i) pixels_of(store, i);
  EXPECT_EQ(source->num_reads(), 6);
}

TEST(ImageStoreTest, WithoutABudgetNothingIsDecodedAhead) {
  const auto source = std::make_shared<MemoryImages>(some_images(5));
  const ImageStore store(source, {.resize = kToFour});
  EXPECT_EQ(source->num_reads(), 0);
}

TEST(ImageStoreTest, SkipsBadImagesAndSaysWhichAndWhy) {
  const auto images = some_images(5);
  for (const int64_t budget : {int64_t{0}, kImageBytes, 100 * kImageBytes}) {
    const ImageStore store(
        std::make_shared<MemoryImages>(images, std::vector<int64_t>{0, 1, 2, 1, 0},
                                       std::set<int64_t>{1, 4}),
        {.resize = kToFour,
         .cache_bytes = budget,
         .on_bad_image = OnBadImage::kSkip,
         .threads = 2});
    ASSERT_EQ(store.size(), 3);
    const std::vector<int64_t> kept = {0, 2, 3}, labels = {0, 2, 1};
    for (size_t i = 0; i < 3; ++i) {
      const auto index = static_cast<int64_t>(i);
      EXPECT_EQ(store.sample(index).path, "image " + std::to_string(kept[i]));
      EXPECT_EQ(store.sample(index).label, labels[i]);
      EXPECT_EQ(pixels_of(store, index), resize(images[static_cast<size_t>(kept[i])], 4, 4).pixels);
    }
    ASSERT_EQ(store.skipped().size(), 2u);
    EXPECT_EQ(store.skipped()[0].path, "image 1");
    EXPECT_EQ(store.skipped()[0].reason, "image 1: is broken");
    EXPECT_EQ(store.skipped()[1].path, "image 4");
    EXPECT_EQ(store.class_names().size(), 3u);
  }
}

TEST(ImageStoreTest, FailingNamesTheFirstBadImage) {
  const auto source = std::make_shared<MemoryImages>(some_images(5), std::vector<int64_t>{},
                                                     std::set<int64_t>{2, 3});
  for (const int64_t threads : {1, 4}) {
    EXPECT_EQ(message_of([&] {
                ImageStore(source, {.resize = kToFour, .cache_bytes = 1000, .threads = threads});
              }),
              "image 2: is broken");
  }
  const ImageStore uncached(source, {.resize = kToFour});
  EXPECT_EQ(uncached.size(), 5);
  EXPECT_EQ(message_of([&] { pixels_of(uncached, 3); }), "image 3: is broken");
}

TEST(ImageStoreTest, AnImageTooThinToResizeIsBadToo) {
  // 60 pixels wide and 1 high: with a shorter side of 2000 it would have 240 megapixels.
  const auto source = std::make_shared<MemoryImages>(
      std::vector<Image>{coordinate_image(2, 2), coordinate_image(60, 1)});
  const ResizeOptions resize{.mode = ResizeOptions::Mode::kShorterSide, .size = 2000};
  const std::string reason =
      "image 1: an image of 60 x 1 pixels is too thin: with a shorter side of 2000 the longer is "
      "120000";
  const ImageStore store(source, {.resize = resize});
  EXPECT_EQ(message_of([&] { pixels_of(store, 1); }), reason);
  const ImageStore skipping(source, {.resize = resize, .on_bad_image = OnBadImage::kSkip});
  EXPECT_EQ(skipping.size(), 1);
  ASSERT_EQ(skipping.skipped().size(), 1u);
  EXPECT_EQ(skipping.skipped()[0].reason, reason);
}

TEST(ImageStoreTest, RefusesASourceWithoutOneGoodImage) {
  const auto source = std::make_shared<MemoryImages>(some_images(2), std::vector<int64_t>{},
                                                     std::set<int64_t>{0, 1});
  EXPECT_EQ(message_of([&] {
              ImageStore(source, {.resize = kToFour, .on_bad_image = OnBadImage::kSkip});
            }),
            "memory: not one of its 2 images can be decoded; the first: image 0: is broken");
}

TEST(ImageStoreTest, OfNoImagesIsEmpty) {
  for (const auto on_bad_image : {OnBadImage::kFail, OnBadImage::kSkip}) {
    const ImageStore store(std::make_shared<MemoryImages>(std::vector<Image>{}),
                           {.cache_bytes = 1000, .on_bad_image = on_bad_image});
    EXPECT_EQ(store.size(), 0);
    EXPECT_TRUE(store.skipped().empty());
  }
}

TEST(DefaultCacheBytesTest, IsHalfOfTheMemory) {
  struct sysinfo info {};
  ASSERT_EQ(sysinfo(&info), 0);
  const double half = static_cast<double>(info.totalram) * info.mem_unit / 2;
  EXPECT_NEAR(static_cast<double>(default_cache_bytes()), half, half / 100);
}

TEST(ImageStoreTest, KnowsTheSizeOfItsImagesWhereAllHaveOne) {
  const auto source = std::make_shared<MemoryImages>(std::vector<Image>{test::grey_image(4, 6, 1)});
  EXPECT_EQ(ImageStore(source, {.resize = {ResizeOptions::Mode::kExact, 3}}).common_side(), 3);
  EXPECT_EQ(ImageStore(source, {.resize = {ResizeOptions::Mode::kShorterSide, 3}}).common_side(),
            std::nullopt);
}

TEST(ImageStoreTest, NoTwoStoresHaveTheSameNumber) {
  const auto source = std::make_shared<MemoryImages>(std::vector<Image>{test::grey_image(4, 6, 1)});
  ImageStore first(source, {});
  const int64_t number = first.id();
  EXPECT_NE(ImageStore(source, {}).id(), number);
  EXPECT_EQ(ImageStore(std::move(first)).id(), number);
}

}  // namespace
}  // namespace proca::data

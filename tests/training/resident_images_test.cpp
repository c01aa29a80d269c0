#include "training/feeds/resident_images.h"

#include <cstring>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/image_feeds.h"
#include "support/message_of.h"
#include "support/test_images.h"

namespace proca::training {
namespace {

using test::noise_store;
using test::Sizes;

constexpr int64_t kEnough = 1 << 30;

void expect_all_there(const data::ImageStore& store, const ResidentImages& images) {
  const auto* pixels = images.pixels().data_ptr<uint8_t>();
  for (int64_t i = 0; i < store.size(); ++i) {
    data::Image scratch;
    const auto image = store.load(i, scratch);
    const auto& place = images.place(i);
    ASSERT_EQ(place.width, image.width);
    ASSERT_EQ(place.height, image.height);
    EXPECT_EQ(std::memcmp(pixels + 3 * place.first, image.pixels,
                          static_cast<size_t>(data::image_bytes(image.width, image.height))),
              0)
        << "image " << i;
  }
}

TEST(ResidentImagesTest, HoldsEveryImageOfAnySizeAndWhereverItComesFrom) {
  for (const auto sizes : {Sizes::kSame, Sizes::kSeveral}) {
    for (const int64_t cache_bytes : {int64_t{0}, int64_t{1000}, kEnough}) {
      const auto store = noise_store(9, sizes, cache_bytes);
      for (const int64_t threads : {1, 3}) {
        const auto images = ResidentImages::load(store, torch::kCPU, kEnough, threads);
        ASSERT_NE(images, nullptr);
        expect_all_there(store, *images);
      }
    }
  }
}

TEST(ResidentImagesTest, ImagesOfMoreThanOnePieceKeepTheirPlaces) {
  // 4000 x 1000 pixels are 12 MB: two make a piece of at most 32 MiB, and five three pieces.
  std::vector<data::Image> images;
  for (uint8_t level = 0; level < 5; ++level) {
    images.push_back(test::grey_image(4000, 1000, level));
  }
  const data::ImageStore store(std::make_shared<test::MemoryImages>(std::move(images)),
                               {.resize = {data::ResizeOptions::Mode::kShorterSide, 1000}});
  const auto there = ResidentImages::load(store, torch::kCPU, kEnough, 2);
  ASSERT_NE(there, nullptr);
  expect_all_there(store, *there);
}

TEST(ResidentImagesTest, TheBudgetIsKeptToTheByte) {
  const auto store = noise_store(2);
  constexpr int64_t kBytes = 2 * 12 * 12 * 3;
  EXPECT_EQ(ResidentImages::load(store, torch::kCPU, kBytes - 1, 1), nullptr);
  const auto images = ResidentImages::load(store, torch::kCPU, kBytes, 1);
  ASSERT_NE(images, nullptr);
  EXPECT_EQ(images->bytes(), kBytes);
}

TEST(ResidentImagesTest, ImagesThatDoNotFitAreNotEvenDecodedWhereTheirSizeIsKnown) {
  const auto source =
      std::make_shared<test::MemoryImages>(std::vector<data::Image>(3, test::grey_image(4, 4, 0)));
  const data::ImageStore store(source, {.resize = {.size = 4}});
  EXPECT_EQ(ResidentImages::load(store, torch::kCPU, 100, 1), nullptr);
  EXPECT_EQ(source->num_reads(), 0);
  EXPECT_NE(ResidentImages::load(store, torch::kCPU, kEnough, 1), nullptr);
  EXPECT_EQ(source->num_reads(), 3);
}

TEST(ResidentImagesTest, ABrokenImageIsNamed) {
  const data::ImageStore store(
      std::make_shared<test::MemoryImages>(std::vector<data::Image>(3, test::grey_image(4, 4, 0)),
                                           std::vector<int64_t>{}, std::set<int64_t>{1}),
      {.resize = {.size = 4}});
  EXPECT_EQ(
      test::message_of<InputError>([&] { ResidentImages::load(store, torch::kCPU, kEnough, 2); }),
      "image 1: is broken");
}

}  // namespace
}  // namespace proca::training

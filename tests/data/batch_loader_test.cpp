#include "data/loading/batch_loader.h"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/memory_images.h"
#include "support/message_of.h"
#include "support/test_images.h"

namespace proca::data {
namespace {

using test::coordinate_image;
using test::MemoryImages;
using test::message_of;

constexpr ResizeOptions kToEight{.size = 8};
constexpr Augmentation kAugmentation{
    .image_size = 5, .crop = Crop::kRandom, .flip_probability = 0.5};

ImageStore store_of(int64_t count, std::set<int64_t> broken = {}) {
  std::vector<Image> images;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    images.push_back(coordinate_image(8, 8, static_cast<uint8_t>(i)));
    labels.push_back(i % 3);
  }
  return {std::make_shared<MemoryImages>(images, labels, std::move(broken)), {.resize = kToEight}};
}

BatchLoader loader_of(const ImageStore& store, const Batches& batches,
                      const Augmentation& augmentation, uint64_t seed, int64_t epoch,
                      int64_t threads) {
  return {store, batches, augmentation, seed, std::vector<int64_t>(batches.size(), epoch), threads};
}

std::vector<PixelBatch> all_batches(BatchLoader& loader) {
  std::vector<PixelBatch> batches;
  while (auto batch = loader.next()) batches.push_back(std::move(*batch));
  return batches;
}

std::vector<uint8_t> pixels_of(const std::vector<PixelBatch>& batches) {
  std::vector<uint8_t> pixels;
  for (const auto& batch : batches) {
    pixels.insert(pixels.end(), batch.pixels.begin(), batch.pixels.end());
  }
  return pixels;
}

std::vector<int64_t> joined(const Batches& batches) {
  std::vector<int64_t> indexes;
  for (const auto& batch : batches) indexes.insert(indexes.end(), batch.begin(), batch.end());
  return indexes;
}

TEST(OrderedBatchesTest, CutsTheNumbersInOrder) {
  EXPECT_EQ(ordered_batches(7, 3), (Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(ordered_batches(6, 3), (Batches{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(ordered_batches(2, 3), (Batches{{0, 1}}));
  EXPECT_EQ(ordered_batches(0, 3), Batches{});
}

TEST(OrderedBatchesTest, RefusesBatchesOfNothing) {
  EXPECT_THROW(ordered_batches(7, 0), std::invalid_argument);
  EXPECT_THROW(ordered_batches(7, -1), std::invalid_argument);
}

TEST(ShuffledBatchesTest, HoldsEveryNumberOnce) {
  const auto batches = shuffled_batches(10, 4, LastBatch::kKeep, 0, "source", 0);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].size(), 4u);
  EXPECT_EQ(batches[2].size(), 2u);
  auto indexes = joined(batches);
  EXPECT_FALSE(std::is_sorted(indexes.begin(), indexes.end()));
  std::sort(indexes.begin(), indexes.end());
  EXPECT_EQ(indexes, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ShuffledBatchesTest, DropsOnlyALastBatchThatIsNotFull) {
  const auto kept = shuffled_batches(10, 4, LastBatch::kKeep, 0, "source", 0);
  auto dropped = shuffled_batches(10, 4, LastBatch::kDrop, 0, "source", 0);
  ASSERT_EQ(dropped.size(), 2u);
  dropped.push_back(kept.back());
  EXPECT_EQ(dropped, kept);
  EXPECT_EQ(shuffled_batches(8, 4, LastBatch::kDrop, 0, "source", 0).size(), 2u);
  EXPECT_TRUE(shuffled_batches(3, 4, LastBatch::kDrop, 0, "source", 0).empty());
}

TEST(ShuffledBatchesTest, IsAFunctionOfSeedPurposeAndEpoch) {
  const auto batches = shuffled_batches(50, 8, LastBatch::kKeep, 1, "source", 2);
  EXPECT_EQ(shuffled_batches(50, 8, LastBatch::kKeep, 1, "source", 2), batches);
  EXPECT_NE(shuffled_batches(50, 8, LastBatch::kKeep, 2, "source", 2), batches);
  EXPECT_NE(shuffled_batches(50, 8, LastBatch::kKeep, 1, "target", 2), batches);
  EXPECT_NE(shuffled_batches(50, 8, LastBatch::kKeep, 1, "source", 3), batches);
}

TEST(BatchLoaderTest, GivesWhatADirectComputationGivesOnAnyNumberOfThreads) {
  const auto store = store_of(23);
  const auto plan = shuffled_batches(23, 4, LastBatch::kKeep, 5, "source", 2);
  for (const int64_t threads : {0, 1, 2, 7}) {
    auto loader = loader_of(store, plan, kAugmentation, 5, 2, threads);
    const auto batches = all_batches(loader);
    ASSERT_EQ(batches.size(), plan.size());
    for (size_t b = 0; b < plan.size(); ++b) {
      EXPECT_EQ(batches[b].indexes, plan[b]);
      EXPECT_EQ(batches[b].image_size, 5);
      EXPECT_EQ(batches[b].size(), static_cast<int64_t>(plan[b].size()));
      std::vector<uint8_t> pixels;
      for (size_t i = 0; i < plan[b].size(); ++i) {
        EXPECT_EQ(batches[b].labels[i], plan[b][i] % 3);
        RandomStream random(5, "augment", 2, static_cast<uint64_t>(plan[b][i]));
        std::vector<uint8_t> example(5 * 5 * 3);
        Image scratch;
        kAugmentation.apply(store.load(plan[b][i], scratch), random, example);
        pixels.insert(pixels.end(), example.begin(), example.end());
      }
      EXPECT_EQ(batches[b].pixels, pixels) << "batch " << b << " on " << threads << " threads";
    }
  }
}

TEST(BatchLoaderTest, EveryEpochAndSeedAugmentsAnew) {
  const auto store = store_of(10);
  const auto pixels = [&](uint64_t seed, int64_t epoch) {
    auto loader = loader_of(store, ordered_batches(10, 4), kAugmentation, seed, epoch, 2);
    return pixels_of(all_batches(loader));
  };
  EXPECT_EQ(pixels(1, 1), pixels(1, 1));
  EXPECT_NE(pixels(1, 1), pixels(1, 2));
  EXPECT_NE(pixels(1, 1), pixels(2, 1));
}

TEST(BatchLoaderTest, EveryImageOfABatchIsAugmentedForItself) {
  // Equal pictures: whatever differs within the batch is the augmentation.
  const std::vector<Image> images(30, coordinate_image(8, 8));
  const ImageStore store(std::make_shared<MemoryImages>(images), {.resize = kToEight});
  auto loader = loader_of(store, ordered_batches(30, 30), kAugmentation, 0, 0, 1);
  const auto batch = loader.next();
  std::set<std::vector<uint8_t>> distinct;
  for (auto example = batch->pixels.begin(); example != batch->pixels.end(); example += 75) {
    distinct.insert({example, example + 75});
  }
  EXPECT_GT(distinct.size(), 10u);  // of 4 x 4 places and 2 directions
}

TEST(BatchLoaderTest, UnlabelledImagesHaveNoLabel) {
  const ImageStore store(
      std::make_shared<MemoryImages>(std::vector<Image>(2, coordinate_image(8, 8))),
      {.resize = kToEight});
  auto loader = loader_of(store, ordered_batches(2, 2), kAugmentation, 0, 0, 1);
  EXPECT_EQ(loader.next()->labels, (std::vector<int64_t>{kNoLabel, kNoLabel}));
}

TEST(BatchLoaderTest, AfterTheLastBatchThereIsNothing) {
  const auto store = store_of(2);
  auto loader = loader_of(store, ordered_batches(2, 2), kAugmentation, 0, 0, 2);
  EXPECT_TRUE(loader.next().has_value());
  EXPECT_FALSE(loader.next().has_value());
  EXPECT_FALSE(loader.next().has_value());
  auto empty = loader_of(store, {}, kAugmentation, 0, 0, 2);
  EXPECT_FALSE(empty.next().has_value());
}

TEST(BatchLoaderTest, ABrokenImageArrivesInItsPlaceAndIsNamed) {
  const auto store = store_of(12, {5, 7});
  for (const int64_t threads : {1, 4}) {
    auto loader = loader_of(store, ordered_batches(12, 2), kAugmentation, 0, 0, threads);
    EXPECT_EQ(loader.next()->indexes.front(), 0);
    EXPECT_EQ(loader.next()->indexes.front(), 2);
    EXPECT_EQ(message_of([&] { loader.next(); }), "image 5: is broken");
    EXPECT_EQ(message_of([&] { loader.next(); }), "image 7: is broken");
    EXPECT_EQ(loader.next()->indexes.front(), 8);
  }
}

TEST(BatchLoaderTest, ACropThatDoesNotFitNamesTheImage) {
  const auto store = store_of(3);
  auto loader = loader_of(store, ordered_batches(3, 3), {.image_size = 9}, 0, 0, 1);
  EXPECT_EQ(message_of([&] { loader.next(); }),
            "image 0: a crop of 9 x 9 pixels does not fit into 8 x 8");
}

TEST(BatchLoaderTest, CanBeDestroyedAtAnyTime) {
  const auto store = store_of(40, {3});
  for (const int64_t threads : {1, 3}) {
    for (int64_t taken = 0; taken < 4; ++taken) {
      auto loader = loader_of(store, ordered_batches(40, 1), kAugmentation, 0, 0, threads);
      for (int64_t i = 0; i < std::min<int64_t>(taken, 3); ++i) {
        EXPECT_EQ(loader.next()->indexes.front(), i);
      }
      if (taken > 3) {
        EXPECT_THROW(loader.next(), InputError);
      }
    }
  }
}

TEST(BatchLoaderTest, PreparesOnlyAFewBatchesAhead) {
  const auto source =
      std::make_shared<MemoryImages>(std::vector<Image>(100, coordinate_image(8, 8)));
  const ImageStore store(source, {.resize = kToEight});
  {
    auto loader = loader_of(store, ordered_batches(100, 1), kAugmentation, 0, 0, 2);
    for (int i = 0; i < 10; ++i) loader.next();
  }
  EXPECT_LE(source->num_reads(), 10 + 4);
}

}  // namespace
}  // namespace proca::data

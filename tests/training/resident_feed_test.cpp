#include "training/feeds/resident_feed.h"

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/image_feeds.h"
#include "support/message_of.h"
#include "training/feeds/loader_feed.h"

namespace proca::training {
namespace {

using data::Crop;
using test::all_of;
using test::largest_difference;
using test::noise_store;
using test::Sizes;

constexpr int64_t kPlenty = 1 << 30;
const data::Preprocessing kPreprocessing{.image_size = 8};

// Two epochs in one plan, the last batch smaller, one image twice in a batch.
FeedPlan some_plan(Crop crop, double flip) {
  return {.batches = {{3, 1, 4}, {0, 5, 5}, {2, 6, 3}, {1}},
          .augmentation = {.image_size = 8, .crop = crop, .flip_probability = flip},
          .seed = 11,
          .epochs = {0, 0, 1, 1}};
}

std::vector<TensorBatch> resident(const data::ImageStore& store, const FeedPlan& plan,
                                  const data::Preprocessing& preprocessing) {
  ResidentFeed feed(ResidentImages::load(store, torch::kCPU, kPlenty, 2), store, plan,
                    preprocessing);
  auto batches = all_of(feed);
  EXPECT_FALSE(feed.next().has_value());
  return batches;
}

std::vector<TensorBatch> loaded(const data::ImageStore& store, const FeedPlan& plan,
                                const data::Preprocessing& preprocessing) {
  LoaderFeed feed(store, plan, preprocessing, torch::kCPU, 2);
  auto batches = all_of(feed);
  EXPECT_FALSE(feed.next().has_value());
  return batches;
}

TEST(ResidentFeedTest, GivesTheBytesThatTheLoaderGives) {
  for (const auto sizes : {Sizes::kSame, Sizes::kSeveral}) {
    const auto store = noise_store(7, sizes);
    for (const auto crop : {Crop::kCentre, Crop::kRandom}) {
      for (const double flip : {0.0, 0.5, 1.0}) {
        const auto plan = some_plan(crop, flip);
        EXPECT_EQ(largest_difference(resident(store, plan, kPreprocessing),
                                     loaded(store, plan, kPreprocessing)),
                  0);
      }
    }
  }
}

TEST(ResidentFeedTest, AnImageThatComesAgainInAnotherEpochIsCutElsewhere) {
  const auto store = noise_store(7);
  const auto batches = resident(store, some_plan(Crop::kRandom, 0.5), kPreprocessing);
  // Image 3 is first of batch 0 (epoch 0) and last of batch 2 (epoch 1).
  EXPECT_FALSE(torch::equal(batches[0].images[0], batches[2].images[2]));
  // Image 5 stands twice in batch 1: the same epoch, the same choice.
  EXPECT_TRUE(torch::equal(batches[1].images[1], batches[1].images[2]));
}

TEST(ResidentFeedTest, ResizedPartsAreThoseOfTheLoaderLevelForLevel) {
  for (const auto sizes : {Sizes::kSame, Sizes::kSeveral}) {
    const auto store = noise_store(30, sizes);
    for (const double flip : {0.0, 0.5, 1.0}) {
      FeedPlan plan{
          .batches = data::ordered_batches(30, 7),
          .augmentation = {.image_size = 8, .crop = Crop::kRandomResized, .flip_probability = flip},
          .seed = 5,
          .epochs = {0, 1, 2, 3, 4}};
      EXPECT_EQ(largest_difference(resident(store, plan, kPreprocessing),
                                   loaded(store, plan, kPreprocessing)),
                0);
    }
  }
}

TEST(ResidentFeedTest, EnlargesBoxesThatAreSmallerThanTheExample) {
  const auto store = noise_store(6, Sizes::kSeveral);
  FeedPlan plan{.batches = {{0, 1, 2, 3, 4, 5}},
                .augmentation = {.image_size = 40, .crop = Crop::kRandomResized},
                .epochs = {3}};
  EXPECT_EQ(largest_difference(resident(store, plan, kPreprocessing),
                               loaded(store, plan, kPreprocessing)),
            0);
}

TEST(ResidentFeedTest, AnImageThatIsTooSmallIsNamed) {
  const auto store = noise_store(3);
  const auto images = ResidentImages::load(store, torch::kCPU, kPlenty, 1);
  FeedPlan plan{.batches = {{0, 2}}, .augmentation = {.image_size = 13}, .epochs = {0}};
  EXPECT_EQ(
      test::message_of<InputError>([&] { ResidentFeed(images, store, plan, kPreprocessing); }),
      "image 0: a crop of 13 x 13 pixels does not fit into 12 x 12");
}

TEST(ResidentFeedTest, OfNoBatchIsNothing) {
  const auto store = noise_store(3);
  EXPECT_TRUE(resident(store, {.augmentation = {.image_size = 8}}, kPreprocessing).empty());
}

}  // namespace
}  // namespace proca::training

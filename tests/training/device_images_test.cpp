#include "training/feeds/device_images.h"

#include <gtest/gtest.h>

#include "support/image_feeds.h"
#include "support/test_images.h"
#include "training/training_stream.h"

namespace proca::training {
namespace {

using test::all_of;
using test::largest_difference;
using test::noise_store;

// Images of noise_store are 12 x 12 pixels.
constexpr int64_t kImageBytes = 12 * 12 * 3;
const data::Preprocessing kEightPixels{.image_size = 8};

FeedPlan plan_for(int64_t count) {
  FeedPlan plan{.batches = data::ordered_batches(count, 4),
                .augmentation = {.image_size = 8, .crop = data::Crop::kRandom}};
  plan.epochs.assign(plan.batches.size(), 0);
  return plan;
}

std::vector<TensorBatch> fed(DeviceImages& images, const data::ImageStore& store) {
  return all_of(*images.feed(store, plan_for(store.size()), kEightPixels));
}

TEST(DeviceImagesTest, WhatDoesNotFitIsStreamedAndIsTheSame) {
  const auto store = noise_store(6);
  DeviceImages none(torch::kCPU, 0, 2), little(torch::kCPU, 6 * kImageBytes - 1, 2),
      enough(torch::kCPU, 6 * kImageBytes, 2);
  const auto streamed = fed(none, store);
  EXPECT_EQ(none.kept_bytes(), 0);
  EXPECT_EQ(largest_difference(fed(little, store), streamed), 0);
  EXPECT_EQ(little.kept_bytes(), 0);
  EXPECT_EQ(largest_difference(fed(enough, store), streamed), 0);
  EXPECT_EQ(enough.kept_bytes(), 6 * kImageBytes);
}

TEST(DeviceImagesTest, ImagesAreLoadedOnce) {
  const auto source = std::make_shared<test::MemoryImages>(
      std::vector<data::Image>(5, test::grey_image(12, 12, 7)));
  const data::ImageStore store(source, {.resize = {.size = 12}});
  DeviceImages images(torch::kCPU, 1 << 20, 2);
  for (int i = 0; i < 3; ++i) fed(images, store);
  EXPECT_EQ(source->num_reads(), 5);
}

TEST(DeviceImagesTest, StoresShareTheRoomAndAForgottenOneLeavesItToOthers) {
  const auto first = noise_store(4), second = noise_store(3);
  DeviceImages images(torch::kCPU, 5 * kImageBytes, 1);
  fed(images, first);
  fed(images, second);
  EXPECT_EQ(images.kept_bytes(), 4 * kImageBytes);  // 7 images would not fit
  images.forget(first);
  EXPECT_EQ(images.kept_bytes(), 0);
  fed(images, second);
  EXPECT_EQ(images.kept_bytes(), 3 * kImageBytes);
  fed(images, first);
  EXPECT_EQ(images.kept_bytes(), 3 * kImageBytes);
}

TEST(DeviceImagesTest, AStoreAtTheAddressOfAnotherIsNotTakenForIt) {
  DeviceImages images(torch::kCPU, 1 << 20, 1);
  std::optional<data::ImageStore> store(noise_store(4));
  fed(images, *store);
  // Not forgotten, only replaced.
  store.emplace(std::make_shared<test::MemoryImages>(
                    std::vector<data::Image>(4, test::grey_image(12, 12, 0))),
                data::StoreOptions{.resize = {.size = 12}});
  // All black: (0 - mean) / std.
  EXPECT_NEAR(fed(images, *store)[0].images[0][0].max().item<float>(), -0.485 / 0.229, 1e-5);
}

TEST(DeviceImagesTest, AFeedOutlivesTheImagesBeingForgotten) {
  const auto store = noise_store(4);
  DeviceImages images(torch::kCPU, 1 << 20, 1);
  const auto feed = images.feed(store, plan_for(4), kEightPixels);
  images.forget(store);
  DeviceImages none(torch::kCPU, 0, 1);
  EXPECT_EQ(largest_difference(all_of(*feed), fed(none, store)), 0);
}

TEST(DeviceImagesTest, OnACpuThereIsNothingToKeep) {
  EXPECT_EQ(image_budget(std::nullopt, torch::kCPU), 0);
  EXPECT_EQ(image_budget(1 << 20, torch::kCPU), 0);
}

TEST(DeviceImagesTest, AGpusBudgetIsWhatTheUserSays) {
  const torch::Device gpu(torch::kCUDA, 0);
  EXPECT_EQ(image_budget(0, gpu), 0);
  EXPECT_EQ(image_budget(1 << 20, gpu), 1 << 20);
}

// An epoch taken up in the middle gives the rest of what it would have given, wherever
// the images are.
TEST(TrainingStreamTest, GoesOnInTheMiddleOfAnEpoch) {
  using Sampling = TrainingStream::Sampling;
  const auto store = noise_store(11);
  const TrainingImages training{
      &store, {.image_size = 8, .crop = data::Crop::kRandom, .flip_probability = 0.5}};
  DeviceImages kept(torch::kCPU, 1 << 20, 2), streamed(torch::kCPU, 0, 2);
  for (const auto sampling : {Sampling::kShuffled, Sampling::kClassBalanced}) {
    for (const bool endless : {false, true}) {
      const EpochRange range{
          .step = 1, .epoch = 2, .first = endless ? 6 : 0, .count = 3, .endless = endless};
      const TrainingStream here(training, kEightPixels, "source", sampling, 3, streamed);
      const TrainingStream there(training, kEightPixels, "source", sampling, 3, kept);
      auto whole = all_of(*here.load(range, 4, 0));
      ASSERT_EQ(whole.size(), 3u);
      EXPECT_EQ(largest_difference(all_of(*there.load(range, 4, 0)), whole), 0);
      whole.erase(whole.begin(), whole.begin() + 2);
      EXPECT_EQ(largest_difference(all_of(*there.load(range, 4, 2)), whole), 0);
      EXPECT_EQ(largest_difference(all_of(*here.load(range, 4, 2)), whole), 0);
    }
  }
}

// An epoch as long as with all 20: batches of 4, 4, 2, and all again, in other orders.
TEST(TrainingStreamTest, ImagesThatStandForMoreComeSeveralTimes) {
  const auto store = noise_store(10);
  DeviceImages images(torch::kCPU, 0, 2);
  const TrainingStream few({&store, {.image_size = 8, .crop = data::Crop::kRandom}, 20},
                           kEightPixels, "source", TrainingStream::Sampling::kShuffled, 3, images);
  ASSERT_EQ(few.pass_length(4), 5);
  const EpochRange first{.epoch = 0, .count = 5}, second{.epoch = 1, .count = 5};
  const auto batches = all_of(*few.load(first, 4, 0));
  ASSERT_EQ(batches.size(), 5u);
  const auto indexes = [&](size_t begin, size_t end) {
    std::vector<torch::Tensor> parts;
    for (size_t i = begin; i < end; ++i) parts.push_back(batches[i].indexes);
    return torch::cat(parts);
  };
  const auto once = indexes(0, 3), again = indexes(3, 5);
  EXPECT_TRUE(torch::equal(std::get<0>(once.sort()), torch::arange(10)));
  EXPECT_EQ(again.size(0), 8);
  EXPECT_FALSE(torch::equal(again, once.narrow(0, 0, 8)));
  const auto rest = all_of(*few.load(first, 4, 4));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_TRUE(torch::equal(rest[0].images, batches[4].images));
  EXPECT_FALSE(torch::equal(all_of(*few.load(second, 4, 0))[0].indexes, batches[0].indexes));
}

}  // namespace
}  // namespace proca::training

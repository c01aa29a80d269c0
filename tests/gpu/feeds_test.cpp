// Batches on the GPU are those of the CPU, wherever the images are kept.

#include "gpu/gpu_test.h"
#include "support/image_feeds.h"
#include "training/feeds/device_images.h"
#include "training/feeds/loader_feed.h"
#include "training/feeds/resident_feed.h"

namespace proca::training {
namespace {

using data::Crop;
using test::noise_store;
using test::Sizes;

const data::Preprocessing kGpuPreprocessing{.image_size = 8};

FeedPlan shuffled_plan(Crop crop, double flip) {
  return {.batches = {{3, 1, 4}, {0, 5, 5}, {2, 6, 3}, {1}},
          .augmentation = {.image_size = 8, .crop = crop, .flip_probability = flip},
          .seed = 11,
          .epochs = {0, 0, 1, 1}};
}

// All batches, read back once the last has been asked for: copies are under way meanwhile.
std::vector<TensorBatch> on_the_host(BatchFeed& feed, const torch::Device& device) {
  auto batches = test::all_of(feed);
  for (auto& batch : batches) {
    EXPECT_EQ(batch.images.device(), device);
    batch = {batch.images.cpu(), batch.labels.cpu(), batch.indexes.cpu()};
  }
  return batches;
}

class GpuFeedsTest : public test::GpuTest {
 protected:
  // Calls check(store, plan, the CPU's batches).
  template <typename Check>
  void for_all_plans(const Check& check) {
    for (const auto sizes : {Sizes::kSame, Sizes::kSeveral}) {
      const auto store = noise_store(7, sizes);
      for (const auto crop : {Crop::kCentre, Crop::kRandom, Crop::kRandomResized}) {
        for (const double flip : {0.0, 0.5}) {
          const auto plan = shuffled_plan(crop, flip);
          LoaderFeed cpu(store, plan, kGpuPreprocessing, torch::kCPU, 2);
          check(store, plan, test::all_of(cpu));
        }
      }
    }
  }
};

TEST_F(GpuFeedsTest, ResidentImagesGiveTheBatchesOfTheCpu) {
  for_all_plans([&](const auto& store, const auto& plan, const auto& expected) {
    ResidentFeed feed(ResidentImages::load(store, gpu_, 1 << 30, 2), store, plan,
                      kGpuPreprocessing);
    EXPECT_LT(test::largest_difference(on_the_host(feed, gpu_), expected), 1e-6);
  });
}

TEST_F(GpuFeedsTest, StreamedImagesGiveTheBatchesOfTheCpu) {
  for_all_plans([&](const auto& store, const auto& plan, const auto& expected) {
    LoaderFeed feed(store, plan, kGpuPreprocessing, gpu_, 2);
    EXPECT_LT(test::largest_difference(on_the_host(feed, gpu_), expected), 1e-6);
  });
}

// Every batch is used at once, by kernels that are still running when the next one is copied.
TEST_F(GpuFeedsTest, CopiesDoNotOverwriteWhatIsBeingComputed) {
  const auto store = noise_store(64);
  FeedPlan plan{.batches = data::ordered_batches(64, 2), .augmentation = {.image_size = 12}};
  plan.epochs.assign(plan.batches.size(), 0);
  const data::Preprocessing preprocessing{.image_size = 12};
  const auto sums = [&](BatchFeed& feed) {
    std::vector<torch::Tensor> sums;
    while (const auto batch = feed.next()) {
      auto product = batch->images.flatten(2).to(torch::kFloat64);
      for (int i = 0; i < 20; ++i) product = product.matmul(torch::eye(144, product.options()));
      sums.push_back(product.sum({1, 2}));
    }
    return torch::cat(sums);
  };
  LoaderFeed cpu(store, plan, preprocessing, torch::kCPU, 2);
  LoaderFeed gpu(store, plan, preprocessing, gpu_, 2);
  EXPECT_LT(test::largest_error(sums(gpu), sums(cpu)), 1e-6);
}

TEST_F(GpuFeedsTest, ImagesStayOnTheGpuWhileThereIsRoom) {
  const auto store = noise_store(7);
  const auto plan = shuffled_plan(Crop::kRandom, 0.5);
  LoaderFeed cpu(store, plan, kGpuPreprocessing, torch::kCPU, 2);
  const auto expected = test::all_of(cpu);
  for (const int64_t budget : {int64_t{0}, int64_t{1} << 30}) {
    DeviceImages images(gpu_, budget, 2);
    const auto feed = images.feed(store, plan, kGpuPreprocessing);
    EXPECT_LT(test::largest_difference(on_the_host(*feed, gpu_), expected), 1e-6);
    EXPECT_EQ(images.kept_bytes(), budget == 0 ? 0 : 7 * 12 * 12 * 3);
  }
}

}  // namespace
}  // namespace proca::training

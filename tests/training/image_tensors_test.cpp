#include "training/feeds/image_tensors.h"

#include <gtest/gtest.h>

namespace proca::training {
namespace {

TEST(ImageTensorsTest, NormalisesAndKeepsChannelsLast) {
  data::PixelBatch batch;
  batch.image_size = 2;
  batch.indexes = {7};
  batch.labels = {3};
  // Four pixels; red, green, blue of the second one are 51, 102 and 255.
  batch.pixels = {0, 0, 0, 51, 102, 255, 0, 0, 0, 0, 0, 0};
  data::Preprocessing preprocessing;
  preprocessing.mean = {0.1, 0.2, 0.5};
  preprocessing.std = {0.5, 0.25, 0.125};
  const auto tensors = to_tensors(batch, preprocessing, torch::kCPU);

  ASSERT_EQ(tensors.images.sizes(), (std::vector<int64_t>{1, 3, 2, 2}));
  EXPECT_TRUE(tensors.images.is_contiguous(torch::MemoryFormat::ChannelsLast));
  // (51 / 255 - 0.1) / 0.5 = 0.2, (102 / 255 - 0.2) / 0.25 = 0.8, (1 - 0.5) / 0.125 = 4.
  EXPECT_NEAR(tensors.images[0][0][0][1].item<float>(), 0.2, 1e-6);
  EXPECT_NEAR(tensors.images[0][1][0][1].item<float>(), 0.8, 1e-6);
  EXPECT_NEAR(tensors.images[0][2][0][1].item<float>(), 4.0, 1e-6);
  EXPECT_NEAR(tensors.images[0][2][1][1].item<float>(), -4.0, 1e-6);
  EXPECT_EQ(tensors.labels[0].item<int64_t>(), 3);
  EXPECT_EQ(tensors.indexes[0].item<int64_t>(), 7);
}

}  // namespace
}  // namespace proca::training

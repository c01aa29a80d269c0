#pragma once

#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "proca/core/random.h"
#include "support/memory_images.h"
#include "training/feeds/batch_feed.h"

namespace proca::test {

/// Noise: no two pixels that should differ are alike by chance for long.
inline data::Image noise_image(int64_t width, int64_t height, uint64_t which) {
  RandomStream random(1, "noise image", which);
  auto image = data::Image::black(width, height);
  for (auto& byte : image.pixels) byte = static_cast<uint8_t>(random.uniform_int(256));
  return image;
}

/// Images of one size, or, with the shorter side as it is, of several.
enum class Sizes { kSame, kSeveral };

/// `count` images whose shorter side is 12 pixels, with labels 0, 1, 2, 0, ...
inline data::ImageStore noise_store(int64_t count, Sizes sizes = Sizes::kSame,
                                    int64_t cache_bytes = 0) {
  std::vector<data::Image> images;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t longer = sizes == Sizes::kSame ? 12 : 12 + 3 * (i % 4);
    images.push_back(i % 2 == 0 ? noise_image(12, longer, static_cast<uint64_t>(i))
                                : noise_image(longer, 12, static_cast<uint64_t>(i)));
    labels.push_back(i % 3);
  }
  using Mode = data::ResizeOptions::Mode;
  return {std::make_shared<MemoryImages>(std::move(images), std::move(labels)),
          {.resize = {sizes == Sizes::kSame ? Mode::kExact : Mode::kShorterSide, 12},
           .cache_bytes = cache_bytes}};
}

inline std::vector<training::TensorBatch> all_of(training::BatchFeed& feed) {
  std::vector<training::TensorBatch> batches;
  while (auto batch = feed.next()) batches.push_back(std::move(*batch));
  return batches;
}

/// Largest difference between the images of two feeds that are the same in all else.
inline double largest_difference(const std::vector<training::TensorBatch>& left,
                                 const std::vector<training::TensorBatch>& right) {
  EXPECT_EQ(left.size(), right.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    EXPECT_TRUE(torch::equal(left[i].labels, right[i].labels)) << "batch " << i;
    EXPECT_TRUE(torch::equal(left[i].indexes, right[i].indexes)) << "batch " << i;
    EXPECT_EQ(left[i].images.sizes(), right[i].images.sizes()) << "batch " << i;
    EXPECT_TRUE(left[i].images.is_contiguous(torch::MemoryFormat::ChannelsLast)) << "batch " << i;
    const auto difference = (left[i].images - right[i].images).abs().max().item<double>();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace proca::test

#include "proca/data/load_options.h"

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/memory_images.h"
#include "support/message_of.h"
#include "support/test_images.h"

namespace proca::data {
namespace {

using test::MemoryImages;

constexpr ResizeOptions kToTwo{.size = 2};

std::shared_ptr<MemoryImages> with_a_broken_image() {
  return std::make_shared<MemoryImages>(
      std::vector<Image>{test::grey_image(2, 2, 1), test::grey_image(2, 2, 2)},
      std::vector<int64_t>{}, std::set<int64_t>{1});
}

TEST(LoadOptionsTest, DeclaresItsOptions) {
  LoadOptions load;
  OptionSet options;
  load.bind(options);
  EXPECT_EQ(options.options().size(), 4u);
  options.assign("root", {"my images"});
  options.assign("cache-ram", {"2K"});
  options.assign("cache-gpu", {"3G"});
  options.assign("on-bad-image", {"skip"});
  EXPECT_EQ(load.root, "my images");
  EXPECT_EQ(load.cache_ram, 2048);
  EXPECT_EQ(load.cache_gpu, int64_t{3} << 30);
  EXPECT_EQ(load.on_bad_image, OnBadImage::kSkip);
  EXPECT_EQ(test::message_of<InvalidOption>([&] { options.assign("on-bad-image", {"ignore"}); }),
            "--on-bad-image: \"ignore\" is not one of fail, skip");
}

TEST(LoadOptionsTest, RefusesAGpuCacheThatIsNoNumberOfBytes) {
  LoadOptions load;
  OptionSet options;
  load.bind(options);
  for (const char* bad : {"", "half", "Auto", "4GB", "-1", "1.5G", "G"}) {
    EXPECT_EQ(
        test::message_of<InvalidOption>([&] { options.assign("cache-gpu", {bad}); }),
        std::string("--cache-gpu: \"") + bad + "\" is not a number of bytes such as 512M or 4G");
  }
  EXPECT_EQ(load.cache_gpu, std::nullopt);
}

TEST(LoadOptionsTest, ByDefaultCachesAndFails) {
  const LoadOptions load;
  EXPECT_EQ(load.cache_ram, default_cache_bytes());
  EXPECT_EQ(load.cache_gpu, std::nullopt);
  EXPECT_EQ(load.on_bad_image, OnBadImage::kFail);
  EXPECT_EQ(test::message_of([&] { load.make_store(with_a_broken_image(), kToTwo, 1); }),
            "image 1: is broken");
}

TEST(LoadOptionsTest, TheStoreFollowsTheOptionsAndTheLogTellsWhatWasSkipped) {
  LoadOptions load;
  load.cache_ram = 12;
  load.on_bad_image = OnBadImage::kSkip;
  testing::internal::CaptureStderr();
  const auto store = load.make_store(with_a_broken_image(), kToTwo, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: memory: skipped 1 image that cannot be decoded:\n"
            "warning:   image 1: is broken\n");
  EXPECT_EQ(store.size(), 1);
  EXPECT_EQ(store.cached_bytes(), 12);
}

TEST(LoadOptionsTest, NothingSkippedIsNothingSaid) {
  LoadOptions load;
  load.on_bad_image = OnBadImage::kSkip;
  testing::internal::CaptureStderr();
  load.make_store(std::make_shared<MemoryImages>(std::vector<Image>{test::grey_image(2, 2, 1)}),
                  kToTwo, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(WithoutCacheTest, ChangesTheCacheAlone) {
  LoadOptions load;
  load.root = "images";
  load.on_bad_image = OnBadImage::kSkip;
  const auto changed = without_cache(load);
  EXPECT_EQ(changed.cache_ram, 0);
  EXPECT_EQ(changed.root, "images");
  EXPECT_EQ(changed.on_bad_image, OnBadImage::kSkip);
}

}  // namespace
}  // namespace proca::data

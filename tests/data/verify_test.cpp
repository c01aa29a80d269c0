#include "data/source/verify.h"

#include <gtest/gtest.h>

#include "support/memory_images.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::data {
namespace {

using test::coordinate_image;
using test::grey_image;
using test::MemoryImages;
using Group = std::vector<std::string>;

TEST(VerifyImagesTest, MeasuresTheSizesOfTheGoodImages) {
  const MemoryImages source({coordinate_image(9, 9), coordinate_image(3, 5), coordinate_image(4, 2),
                             coordinate_image(1, 99)},
                            {}, {0, 3});
  const auto report = verify_images(source, 2);
  EXPECT_EQ(report.num_images, 4);
  EXPECT_EQ(report.min_width, 3);
  EXPECT_EQ(report.max_width, 4);
  EXPECT_EQ(report.min_height, 2);
  EXPECT_EQ(report.max_height, 5);
  EXPECT_TRUE(report.duplicates.empty());
}

TEST(VerifyImagesTest, ListsBadImagesInOrderWithTheReason) {
  std::vector<Image> images;
  for (int i = 0; i < 20; ++i) images.push_back(grey_image(2, 2, static_cast<uint8_t>(i)));
  const MemoryImages source(images, {}, {3, 11, 17});
  for (const int64_t threads : {1, 4}) {
    const auto report = verify_images(source, threads);
    ASSERT_EQ(report.bad.size(), 3u);
    EXPECT_EQ(report.bad[0].path, "image 3");
    EXPECT_EQ(report.bad[0].reason, "image 3: is broken");
    EXPECT_EQ(report.bad[1].path, "image 11");
    EXPECT_EQ(report.bad[2].path, "image 17");
  }
}

TEST(VerifyImagesTest, GroupsImagesWithEqualPixels) {
  const MemoryImages source({grey_image(2, 2, 1), grey_image(2, 2, 2), grey_image(2, 2, 1),
                             grey_image(4, 1, 1), grey_image(2, 2, 2), grey_image(2, 2, 3),
                             grey_image(2, 2, 1)});
  EXPECT_EQ(verify_images(source, 2).duplicates,
            (std::vector<Group>{{"image 0", "image 2", "image 6"}, {"image 1", "image 4"}}));
}

TEST(VerifyImagesTest, ImagesWithEqualChecksumsButOtherPixelsAreNoDuplicates) {
  // XORing a message with CRC-32's own polynomial leaves the checksum as it is.
  auto one = grey_image(3, 3, 100);
  auto other = one;
  const uint8_t polynomial[] = {0x41, 0x06, 0x71, 0xdb, 0x01};
  for (size_t i = 0; i < 5; ++i) other.pixels[4 + i] ^= polynomial[i];
  ASSERT_EQ(crc32(one.pixels), crc32(other.pixels));
  EXPECT_TRUE(verify_images(MemoryImages({one, other}), 1).duplicates.empty());
  EXPECT_EQ(verify_images(MemoryImages({one, other, one}), 1).duplicates,
            (std::vector<Group>{{"image 0", "image 2"}}));
}

TEST(VerifyImagesTest, WorksOnFiles) {
  const test::TemporaryFolder folder;
  test::write_png(folder / "cup/a.png", grey_image(2, 3, 1));
  test::write_png(folder / "cup/copy of a.png", grey_image(2, 3, 1));
  test::write_broken_image(folder / "cup/b.png");
  const auto report = verify_images(*open_images(folder.path()), 2);
  EXPECT_EQ(report.num_images, 3);
  ASSERT_EQ(report.bad.size(), 1u);
  EXPECT_EQ(report.bad[0].path, (folder / "cup/b.png").string());
  EXPECT_EQ(report.duplicates, (std::vector<Group>{{(folder / "cup/a.png").string(),
                                                    (folder / "cup/copy of a.png").string()}}));
}

TEST(VerifyImagesTest, OfBadImagesAloneHasNoSizes) {
  const auto report = verify_images(MemoryImages({grey_image(2, 2, 1)}, {}, {0}), 1);
  EXPECT_EQ(report.bad.size(), 1u);
  EXPECT_EQ(report.max_width, 0);
  EXPECT_EQ(report.min_height, 0);
}

}  // namespace
}  // namespace proca::data

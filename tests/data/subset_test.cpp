#include "data/source/subset.h"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "support/memory_images.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::data {
namespace {

using Indexes = std::vector<int64_t>;

ImageListing listing_with(const std::vector<int64_t>& images_per_class) {
  ImageListing listing;
  for (size_t label = 0; label < images_per_class.size(); ++label) {
    listing.class_names.push_back(std::to_string(label));
    for (int64_t i = 0; i < images_per_class[label]; ++i) {
      listing.samples.push_back({"image", static_cast<int64_t>(label)});
    }
  }
  return listing;
}

TEST(SubsetTest, HoldsTheGivenImagesInTheGivenOrder) {
  const auto source = std::make_shared<test::MemoryImages>(
      std::vector<Image>{test::grey_image(1, 1, 0), test::grey_image(1, 1, 1),
                         test::grey_image(1, 1, 2)},
      Indexes{0, 1, 2});
  const auto part = subset(source, {2, 0, 2});
  const auto& listing = part->listing();
  ASSERT_EQ(listing.size(), 3);
  EXPECT_EQ(listing.origin, "memory");
  EXPECT_EQ(listing.class_names, source->listing().class_names);
  EXPECT_EQ(listing.samples[0].path, "image 2");
  EXPECT_EQ(listing.samples[1].path, "image 0");
  EXPECT_EQ(listing.samples[0].label, 2);
  EXPECT_EQ(listing.count_per_class(), (Indexes{1, 0, 2}));
  EXPECT_EQ(part->read(0).pixels[0], 2);
  EXPECT_EQ(part->read(1).pixels[0], 0);
}

TEST(SubsetTest, KeepsWhatLabelsMeanAndTheFiles) {
  const test::TemporaryFolder folder;
  test::write_png(folder / "a.png", test::grey_image(1, 1, 1));
  test::write_png(folder / "b.png", test::grey_image(1, 1, 2));
  test::write_text(folder / "list.txt", "a.png 0\nb.png 5\n");
  const auto part = subset(open_images(folder / "list.txt"), {1});
  EXPECT_EQ(part->listing().label_meaning, LabelMeaning::kNumber);
  EXPECT_EQ(part->listing().num_classes(), 6);
  EXPECT_EQ(part->read_encoded(0).size(), test::png_text(test::grey_image(1, 1, 2)).size());
}

TEST(SubsetTest, MayBeEmptyButNotReachOutside) {
  const auto source =
      std::make_shared<test::MemoryImages>(std::vector<Image>{test::grey_image(1, 1, 0)});
  EXPECT_EQ(subset(source, {})->listing().size(), 0);
  EXPECT_THROW(subset(source, {1}), std::out_of_range);
  EXPECT_THROW(subset(source, {-1}), std::out_of_range);
}

TEST(StratifiedSplitTest, KeepsBackTheRoundedShareOfEveryClass) {
  const struct {
    double fraction;
    int64_t images, kept_back;
  } cases[] = {
      {0.1, 10, 1}, {0.1, 14, 1}, {0.1, 15, 2}, {0.1, 4, 0}, {0.1, 5, 1},
      {0.5, 1, 0},  {0.5, 2, 1},  {0.5, 3, 2},  {1.0, 3, 2}, {0.0, 10, 0},
  };
  for (const auto& [fraction, images, kept_back] : cases) {
    const auto split = stratified_split(listing_with({images}), fraction, 0);
    EXPECT_EQ(static_cast<int64_t>(split.holdout.size()), kept_back) << fraction << " " << images;
    EXPECT_EQ(static_cast<int64_t>(split.training.size()), images - kept_back);
  }
}

TEST(StratifiedSplitTest, EveryImageIsInOnePartInTheOrderOfTheListing) {
  const auto listing = listing_with({10, 0, 20, 1});
  const auto split = stratified_split(listing, 0.3, 7);
  EXPECT_TRUE(std::is_sorted(split.training.begin(), split.training.end()));
  EXPECT_TRUE(std::is_sorted(split.holdout.begin(), split.holdout.end()));
  Indexes all = split.training;
  all.insert(all.end(), split.holdout.begin(), split.holdout.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 31u);
  for (int64_t i = 0; i < 31; ++i) EXPECT_EQ(all[static_cast<size_t>(i)], i);
  Indexes per_class(4);
  for (const int64_t index : split.holdout) {
    ++per_class[static_cast<size_t>(listing.samples[static_cast<size_t>(index)].label)];
  }
  EXPECT_EQ(per_class, (Indexes{3, 0, 6, 0}));
}

TEST(StratifiedSplitTest, IsChosenBySeedAlone) {
  const auto listing = listing_with({50, 50});
  const auto split = stratified_split(listing, 0.2, 1);
  EXPECT_EQ(stratified_split(listing, 0.2, 1).holdout, split.holdout);
  EXPECT_NE(stratified_split(listing, 0.2, 2).holdout, split.holdout);
  // The classes are not split alike.
  Indexes first(split.holdout.begin(), split.holdout.begin() + 10);
  Indexes second(split.holdout.begin() + 10, split.holdout.end());
  for (auto& index : second) index -= 50;
  EXPECT_NE(first, second);
}

TEST(StratifiedSplitTest, NeedsLabels) {
  ImageListing listing;
  listing.samples = {{"image", kNoLabel}};
  EXPECT_THROW(stratified_split(listing, 0.5, 0), std::out_of_range);
}

}  // namespace
}  // namespace proca::data

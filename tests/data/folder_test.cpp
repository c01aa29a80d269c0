// Folders as people have them: nested, with files of other kinds, or a picture alone.

#include <gtest/gtest.h>

#include "support/test_images.h"

#include "data/open_images_fixture.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;
using test::write_text;
using Names = std::vector<std::string>;

TEST_F(OpenImagesTest, CountsAndNamesPicturesThatCannotBeDecoded) {
  add("images/a.png");
  for (const char* name : {"b.HEIC", "c.heif", "d.mp4", "e.svg", "notes.txt"}) {
    write_text(folder_ / "images" / name, "x");
  }
  testing::internal::CaptureStderr();
  const auto source = open_images(folder_ / "images");
  const auto log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(source->listing().size(), 1);
  EXPECT_EQ(source->listing().unsupported.size(), 4u);
  EXPECT_NE(log.find("left out 4 files of kinds that are not supported (2 HEIC, 1 SVG, 1 video), "
                     "such as " +
                     at("images/b.HEIC")),
            std::string::npos)
      << log;
}

TEST_F(OpenImagesTest, AFolderOfOthersOnlyIsRefusedWithTheirKinds) {
  write_text(folder_ / "phone/a.heic", "x");
  EXPECT_EQ(refusal("phone"),
            at("phone") +
                ": holds no image that can be read (.jpg, .png, .webp, .tif, .gif or "
                ".bmp): 1 file of a kind that is not supported (1 HEIC), such as " +
                at("phone/a.heic"));
}

TEST_F(OpenImagesTest, APictureGivenAloneIsNeverTakenForAList) {
  for (const char* name : {"x.bmp", "x.tiff", "x.GIF"}) {
    write_text(folder_ / name, "x");
    EXPECT_EQ(summary(open_images(folder_ / name)->listing()), Names{name});
  }
  add("photo");  // a PNG without an extension
  EXPECT_EQ(open_images(folder_ / "photo")->read(0).width, 2);
  write_text(folder_ / "x.heic", "a.png 0\n");
  EXPECT_EQ(refusal("x.heic"), at("x.heic") +
                                   ": is a file of the kind HEIC, which is not "
                                   "supported; convert it to JPEG or PNG");
}

TEST_F(OpenImagesTest, WithoutLabelsEverythingBelowAFolderIsTaken) {
  add("day/b.png");
  add("day/a/x.png");
  add("day/a/deep/er/y.png");
  add("day/.hidden/z.png");
  fs::create_directories(folder_ / "day/empty");
  const auto source = open_images(folder_ / "day", {.labels = Labels::kIgnored});
  EXPECT_EQ(summary(source->listing()), (Names{"day/b.png", "day/a/x.png", "day/a/deep/er/y.png"}));
}

TEST_F(OpenImagesTest, AFolderThatHoldsItselfIsRefused) {
  add("day/b.png");
  fs::create_directory_symlink(folder_ / "day", folder_ / "day/again");
  EXPECT_NE(refusal("day", {.labels = Labels::kIgnored}).find("folders nest more than 32 deep"),
            std::string::npos);
}

TEST_F(OpenImagesTest, NamesInAListAreMatchedToKnownClasses) {
  add("a.png");
  add("b.png");
  write_text(folder_ / "list.csv", "path,label\na.png,cup\nb.png,bike\n");
  EXPECT_EQ(summary(open_images(folder_ / "list.csv")->listing()), (Names{"a.png|1", "b.png|0"}));
  const OpenOptions known{.known_classes = {"zebra", "cup", "bike"}};
  EXPECT_EQ(summary(open_images(folder_ / "list.csv", known)->listing()),
            (Names{"a.png|1", "b.png|2"}));
  EXPECT_NE(refusal("list.csv", {.known_classes = {"cup", "bikes"}}).find("no class \"bike\""),
            std::string::npos);
}

TEST_F(OpenImagesTest, UnknownClassesAreLeftOutAndCounted) {
  add("images/cup/a.png", 1);
  add("images/dog/b.png", 2);
  add("images/dog/c.png", 3);
  add("images/key/d.png", 4);
  OpenOptions options{.known_classes = {"key", "cup"},
                      .unknown_classes = UnknownClasses::kLeaveOut};
  const auto source = open_images(folder_ / "images", options);
  EXPECT_EQ(summary(source->listing()), (Names{"images/cup/a.png|1", "images/key/d.png|0"}));
  ASSERT_EQ(source->listing().unknown_classes.size(), 1u);
  EXPECT_EQ(source->listing().unknown_classes[0].name, "dog");
  EXPECT_EQ(source->listing().unknown_classes[0].num_images, 2);
  EXPECT_EQ(source->read(1).pixels, test::coordinate_image(2, 2, 4).pixels);
  options.known_classes = {"cat", "bird"};  // not one of them: a mistake
  EXPECT_NE(refusal("images", options).find("the model has no class \"cup\""), std::string::npos);
}

}  // namespace
}  // namespace proca::data

#include "data/source/packed_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/pixels/resize.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/memory_images.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

#include "data/golden_files.h"
#include "data/packed_file_fixture.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;
using test::coordinate_image;
using test::MemoryImages;
using test::message_of;
using Names = std::vector<std::string>;

TEST_F(PackedFileTest, PixelsComeBackAtThePackedSize) {
  write_packed_file(path_, *images(), kPixels);
  const auto packed = open_packed_file(path_);
  ASSERT_EQ(packed->listing().size(), 2);
  EXPECT_EQ(packed->read(0).width, 2);
  EXPECT_EQ(packed->read(0).height, 2);
  EXPECT_EQ(packed->read(0).pixels, resize(coordinate_image(3, 2, 1), 2, 2).pixels);
  EXPECT_EQ(packed->read(1).pixels, coordinate_image(2, 2, 2).pixels);
}

TEST_F(PackedFileTest, FilesComeBackAsTheyWere) {
  write_packed_file(path_, *images(), kFiles);
  const auto packed = open_packed_file(path_);
  const auto encoded = packed->read_encoded(0);
  EXPECT_EQ(std::string(encoded.begin(), encoded.end()), test::png_text(coordinate_image(3, 2, 1)));
  EXPECT_EQ(packed->read(0).width, 3);
  EXPECT_EQ(packed->read(0).pixels, coordinate_image(3, 2, 1).pixels);
}

TEST_F(PackedFileTest, KeepsLabelsNamesAndPaths) {
  for (const auto& options : {kPixels, kFiles}) {
    write_packed_file(path_, *images(), options);
    const auto listing = open_packed_file(path_)->listing();
    EXPECT_EQ(listing.origin, path_.string());
    EXPECT_EQ(listing.class_names, (Names{"bike", "cup"}));
    EXPECT_EQ(listing.label_meaning, LabelMeaning::kName);
    EXPECT_EQ(listing.samples[0].label, 0);
    EXPECT_EQ(listing.samples[1].label, 1);
    EXPECT_EQ(listing.samples[0].path, (folder_ / "images/bike/a b.png").string());
    EXPECT_EQ(listing.samples[1].path, (folder_ / "images/cup/ü.png").string());
  }
}

TEST_F(PackedFileTest, KeepsThatLabelsOfAListAreNumbers) {
  test::write_text(folder_ / "list.txt", "images/bike/a b.png 4\n");
  write_packed_file(path_, *open_images(folder_ / "list.txt"), kPixels);
  const auto listing = open_packed_file(path_)->listing();
  EXPECT_EQ(listing.label_meaning, LabelMeaning::kNumber);
  EXPECT_EQ(listing.num_classes(), 5);
  EXPECT_EQ(listing.samples[0].label, 4);
}

TEST_F(PackedFileTest, UnlabelledImagesStayUnlabelled) {
  write_packed_file(path_, *open_images(folder_ / "images/cup"), kPixels);
  const auto listing = open_packed_file(path_)->listing();
  EXPECT_FALSE(listing.labelled());
  EXPECT_EQ(listing.samples[0].label, kNoLabel);
}

TEST_F(PackedFileTest, AreTheSameBytesOnAnyNumberOfThreads) {
  std::vector<Image> many;
  for (int i = 0; i < 600; ++i) many.push_back(coordinate_image(3, 3, static_cast<uint8_t>(i)));
  const MemoryImages source(many);
  write_packed_file(path_, source, {.image_size = 2, .threads = 1});
  const auto expected = read_text_file(path_);
  write_packed_file(path_, source, {.image_size = 2, .threads = 5});
  EXPECT_EQ(read_text_file(path_), expected);
  EXPECT_EQ(open_packed_file(path_)->read(599).pixels, resize(many[599], 2, 2).pixels);
}

TEST_F(PackedFileTest, SmallImagesAreNotEnlarged) {
  // 3 x 2 and 2 x 2 pixels; a square of 3 has nine.
  write_packed_file(path_, *images(), {.image_size = 3});
  EXPECT_EQ(open_packed_file(path_)->read(0).pixels, coordinate_image(3, 2, 1).pixels);
  EXPECT_EQ(open_packed_file(path_)->read(1).width, 2);
}

TEST_F(PackedFileTest, PixelsAreUprightUnlessToldOtherwise) {
  fs::create_directories(folder_ / "turned");
  fs::copy_file(test::golden_folder() / "orientation/6.png", folder_ / "turned/a.png");
  const auto source = open_images(folder_ / "turned");
  write_packed_file(path_, *source, {.image_size = 100});
  EXPECT_EQ(open_packed_file(path_)->read(0).width, 17);
  write_packed_file(path_, *source, {.image_size = 100, .orientation = Orientation::kStored});
  EXPECT_EQ(open_packed_file(path_)->read(0).width, 23);
  write_packed_file(path_, *source, kFiles);
  EXPECT_EQ(open_packed_file(path_)->read(0).orientation, 6);
}

TEST_F(PackedFileTest, CanBePackedAgain) {
  write_packed_file(path_, *images(), kFiles);
  write_packed_file(folder_ / "again", *open_packed_file(path_), kPixels);
  EXPECT_EQ(open_packed_file(folder_ / "again")->read(1).pixels, coordinate_image(2, 2, 2).pixels);
  EXPECT_EQ(message_of([&] {
              write_packed_file(folder_ / "third", *open_packed_file(folder_ / "again"), kFiles);
            }),
            fmt::format("{}, image 0 ({}): holds pixels, not image files",
                        (folder_ / "again").string(), (folder_ / "images/bike/a b.png").string()));
  EXPECT_FALSE(fs::exists(folder_ / "third"));
}

TEST_F(PackedFileTest, NamesThatAreNoUtf8DoNotKeepItFromBeingWritten) {
  test::write_png(folder_ / "odd/\xff.png", coordinate_image(2, 2));
  write_packed_file(path_, *open_images(folder_ / "odd"), kPixels);
  EXPECT_EQ(open_packed_file(path_)->listing().samples[0].path,
            (folder_ / "odd/\xef\xbf\xbd.png").string());
}

TEST_F(PackedFileTest, RelabellingKeepsTheImages) {
  write_packed_file(path_, *images(), kPixels);
  const auto packed = open_packed_file(path_);
  auto listing = packed->listing();
  listing.class_names = {"x", "y", "z"};
  listing.samples[1].label = 2;
  packed->relabel(listing);
  EXPECT_EQ(packed->listing().num_classes(), 3);
  EXPECT_EQ(packed->listing().samples[1].label, 2);
  EXPECT_EQ(packed->read(1).pixels, coordinate_image(2, 2, 2).pixels);
}

TEST_F(PackedFileTest, ABrokenImageLeavesTheOldFile) {
  test::write_broken_image(folder_ / "images/cup/z.png");
  write_file(path_, "old");
  for (const auto& options : {kPixels, kFiles}) {
    EXPECT_EQ(message_of([&] { write_packed_file(path_, *images(), options); }),
              (folder_ / "images/cup/z.png").string() +
                  ": is not an image of a known format (JPEG, PNG, WebP, TIFF, GIF or BMP)");
    EXPECT_EQ(read_text_file(path_), "old");
  }
  int num_entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path())) ++num_entries;
  EXPECT_EQ(num_entries, 2);  // images and the old file, nothing temporary
}

TEST_F(PackedFileTest, AnUnwritablePathIsNamed) {
  EXPECT_EQ(message_of([&] { write_packed_file(folder_ / "no/pack", *images(), kPixels); }),
            (folder_ / "no/pack").string() + ": cannot be written: No such file or directory");
}

TEST_F(PackedFileTest, IsRecognisedByItsFirstBytes) {
  write_packed_file(path_, *images(), kPixels);
  EXPECT_TRUE(is_packed_file(path_));
  test::write_text(folder_ / "text", "PROCAPA");
  EXPECT_FALSE(is_packed_file(folder_ / "text"));
  EXPECT_FALSE(is_packed_file(folder_ / "missing"));
  EXPECT_FALSE(is_packed_file(folder_.path()));
}

// Files that `golden/make_packed.sh` packed with the first program that could.
TEST(PackedFileCompatibilityTest, FilesOfVersion1CanBeReadForEver) {
  const auto open = [](const std::string& name) {
    return open_packed_file(fs::path(PROCA_TEST_DATA) / name);
  };
  const auto pixels = open("packed_v1_pixels.procapack");
  EXPECT_EQ(pixels->listing().class_names, (Names{"bike", "cup"}));
  EXPECT_EQ(pixels->listing().label_meaning, LabelMeaning::kName);
  ASSERT_EQ(pixels->listing().size(), 3);
  EXPECT_EQ(pixels->listing().samples[0].path, "images/bike/grüner.png");
  EXPECT_EQ(pixels->listing().samples[2].label, 1);
  EXPECT_EQ(pixels->read(0).pixels, test::colour_image(2, 2, {0, 128, 0}).pixels);
  EXPECT_EQ(pixels->read(2).pixels, test::colour_image(2, 2, {10, 20, 30}).pixels);

  const auto files = open("packed_v1_files.procapack");
  EXPECT_EQ(files->listing().label_meaning, LabelMeaning::kNumber);
  EXPECT_EQ(files->listing().class_names, (Names{"0", "1", "cup"}));
  ASSERT_EQ(files->listing().size(), 1);
  EXPECT_EQ(files->listing().samples[0].label, 2);
  EXPECT_EQ(files->read(0).width, 3);
  EXPECT_EQ(files->read(0).pixels, test::colour_image(3, 2, {10, 20, 30}).pixels);
}

}  // namespace
}  // namespace proca::data

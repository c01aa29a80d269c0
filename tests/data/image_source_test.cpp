#include "proca/data/image_source.h"

#include <gtest/gtest.h>

#include "data/source/packed_file.h"
#include "proca/core/error.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

#include "data/open_images_fixture.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;
using test::coordinate_image;
using test::message_of;
using test::write_png;
using test::write_text;
using Names = std::vector<std::string>;

TEST_F(OpenImagesTest, ClassFoldersAreLabelledInAlphabeticalOrder) {
  add("images/cup/2.png");
  add("images/cup/10.png");
  add("images/bike/x.png", 7);
  add("images/Zebra/x.png");
  add("images/étagère/my photo.png");
  const auto source = open_images(folder_ / "images");
  const auto& listing = source->listing();
  EXPECT_EQ(listing.origin, at("images"));
  EXPECT_EQ(listing.class_names, (Names{"Zebra", "bike", "cup", "étagère"}));
  EXPECT_EQ(listing.label_meaning, LabelMeaning::kName);
  EXPECT_EQ(summary(listing),
            (Names{"images/Zebra/x.png|0", "images/bike/x.png|1", "images/cup/10.png|2",
                   "images/cup/2.png|2", "images/étagère/my photo.png|3"}));
  EXPECT_EQ(listing.count_per_class(), (std::vector<int64_t>{1, 1, 2, 1}));
  EXPECT_EQ(source->read(1).pixels, coordinate_image(2, 2, 7).pixels);
}

TEST_F(OpenImagesTest, AFlatFolderHasNoLabels) {
  add("images/b.png", 2);
  add("images/a b.png", 1);
  const auto source = open_images(folder_ / "images");
  EXPECT_FALSE(source->listing().labelled());
  EXPECT_EQ(source->listing().num_classes(), 0);
  EXPECT_TRUE(source->listing().count_per_class().empty());
  EXPECT_EQ(summary(source->listing()), (Names{"images/a b.png", "images/b.png"}));
  EXPECT_EQ(source->read(0).pixels, coordinate_image(2, 2, 1).pixels);
}

TEST_F(OpenImagesTest, TakesImageExtensionsInAnyCaseAndNothingElse) {
  for (const char* name : {"a.PNG", "b.jpg", "c.JPEG", "d.WebP", "e.gif", "e.TIF", "e.bmp", "f.txt",
                           "g", "h.png.bak", ".hidden.png", "Thumbs.db", "jpg"}) {
    add(fs::path("images") / name);
  }
  const auto source = open_images(folder_ / "images");
  EXPECT_EQ(summary(source->listing()),
            (Names{"images/a.PNG", "images/b.jpg", "images/c.JPEG", "images/d.WebP", "images/e.TIF",
                   "images/e.bmp", "images/e.gif"}));
  EXPECT_TRUE(source->listing().unsupported.empty());
}

TEST_F(OpenImagesTest, PassesOverHiddenFoldersAndOtherFilesBesideClassFolders) {
  add("images/cup/a.png");
  add("images/cup/.hidden.png");
  add("images/.thumbnails/a.png");
  add("images/.DS_Store");
  write_text(folder_ / "images/readme.txt", "hello");
  const auto source = open_images(folder_ / "images");
  EXPECT_EQ(source->listing().class_names, Names{"cup"});
  EXPECT_EQ(summary(source->listing()), Names{"images/cup/a.png|0"});
}

TEST_F(OpenImagesTest, ReadEncodedGivesTheFile) {
  add("images/a.png", 9);
  const auto bytes = open_images(folder_ / "images")->read_encoded(0);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), test::png_text(coordinate_image(2, 2, 9)));
}

TEST_F(OpenImagesTest, ASingleImageIsASourceOfOne) {
  add("my photo.PNG", 5);
  const auto source = open_images(folder_ / "my photo.PNG");
  EXPECT_EQ(summary(source->listing()), Names{"my photo.PNG"});
  EXPECT_FALSE(source->listing().labelled());
  EXPECT_EQ(source->read(0).pixels, coordinate_image(2, 2, 5).pixels);
}

TEST_F(OpenImagesTest, ListPathsAreRelativeToTheListItself) {
  add("lists/bike/a 1.png", 1);
  add("other/b.png", 2);
  write_text(folder_ / "lists/list.txt", "bike/a 1.png 3\r\n\r\n../other/b.png 0\r\n");
  const auto source = open_images(folder_ / "lists/list.txt");
  EXPECT_EQ(summary(source->listing()), (Names{"lists/bike/a 1.png|3", "other/b.png|0"}));
  EXPECT_EQ(source->listing().class_names, (Names{"other", "1", "2", "bike"}));
  EXPECT_EQ(source->listing().label_meaning, LabelMeaning::kNumber);
  EXPECT_EQ(source->listing().count_per_class(), (std::vector<int64_t>{1, 0, 0, 1}));
  EXPECT_EQ(source->read(1).pixels, coordinate_image(2, 2, 2).pixels);
}

TEST_F(OpenImagesTest, ListPathsAreRelativeToTheRootWhereOneIsGiven) {
  add("images/a.png");
  write_text(folder_ / "lists/list", "a.png 0\n" + at("images/a.png") + " 1\n");
  const auto source = open_images(folder_ / "lists/list", {.root = folder_ / "images"});
  EXPECT_EQ(summary(source->listing()), (Names{"images/a.png|0", "images/a.png|1"}));
}

TEST_F(OpenImagesTest, AListedImageNeedsNoExtension) {
  add("picture");
  write_text(folder_ / "list.txt", "picture\n");
  EXPECT_EQ(open_images(folder_ / "list.txt")->read(0).pixels, coordinate_image(2, 2).pixels);
}

TEST_F(OpenImagesTest, APackedFileKeepsItsLabels) {
  add("images/bike/a.png", 1);
  add("images/cup/b.png", 2);
  write_packed_file(folder_ / "pack", *open_images(folder_ / "images"), {.image_size = 2});
  const auto source = open_images(folder_ / "pack");
  EXPECT_EQ(source->listing().class_names, (Names{"bike", "cup"}));
  EXPECT_EQ(source->listing().origin, at("pack"));
  EXPECT_EQ(summary(source->listing()), (Names{"images/bike/a.png|0", "images/cup/b.png|1"}));
  EXPECT_EQ(source->read(1).pixels, coordinate_image(2, 2, 2).pixels);
}

TEST_F(OpenImagesTest, RequiredLabelsMustBeThere) {
  add("flat/a.png");
  add("classes/cup/a.png");
  write_text(folder_ / "list.txt", "flat/a.png\n");
  write_text(folder_ / "labelled.txt", "flat/a.png 0\n");
  write_packed_file(folder_ / "pack", *open_images(folder_ / "flat"), {.image_size = 2});
  const OpenOptions required{.labels = Labels::kRequired};
  for (const char* name : {"flat", "flat/a.png", "list.txt", "pack"}) {
    EXPECT_EQ(refusal(name, required),
              at(name) +
                  ": the images have no labels; expected a folder per class, a list with labels or "
                  "a labelled packed file");
    EXPECT_NO_THROW(open_images(folder_ / name, {.labels = Labels::kOptional}));
  }
  for (const char* name : {"classes", "labelled.txt"}) {
    EXPECT_TRUE(open_images(folder_ / name, required)->listing().labelled());
  }
}

TEST_F(OpenImagesTest, IgnoredLabelsAreNeitherShownNorChecked) {
  add("images/cup/a.png");
  write_text(folder_ / "list.txt", "images/cup/a.png 12\n");
  write_packed_file(folder_ / "pack", *open_images(folder_ / "images"), {.image_size = 2});
  const OpenOptions ignored{.labels = Labels::kIgnored, .known_classes = {"bike"}};
  for (const char* name : {"images", "list.txt", "pack"}) {
    const auto source = open_images(folder_ / name, ignored);
    EXPECT_FALSE(source->listing().labelled());
    EXPECT_EQ(summary(source->listing()), Names{"images/cup/a.png"});
  }
}

TEST_F(OpenImagesTest, ClassFoldersAreMatchedToKnownClassesByName) {
  add("images/cup/a.png");
  add("images/bike/a.png");
  write_packed_file(folder_ / "pack", *open_images(folder_ / "images"), {.image_size = 2});
  const OpenOptions options{.known_classes = {"apple", "cup", "bus", "bike"}};
  for (const char* name : {"images", "pack"}) {
    const auto source = open_images(folder_ / name, options);
    EXPECT_EQ(source->listing().class_names, options.known_classes);
    EXPECT_EQ(summary(source->listing()), (Names{"images/bike/a.png|3", "images/cup/a.png|1"}));
    EXPECT_EQ(source->listing().count_per_class(), (std::vector<int64_t>{0, 1, 0, 1}));
  }
}

TEST_F(OpenImagesTest, LabelsOfAListAreMatchedToKnownClassesByNumber) {
  add("cup/a.png");
  add("bike/b.png");
  write_text(folder_ / "list.txt", "cup/a.png 0\nbike/b.png 2\n");
  write_packed_file(folder_ / "pack", *open_images(folder_ / "list.txt"), {.image_size = 2});
  const OpenOptions options{.known_classes = {"x", "y", "z", "w"}};
  for (const char* name : {"list.txt", "pack"}) {
    const auto source = open_images(folder_ / name, options);
    EXPECT_EQ(source->listing().class_names, options.known_classes);
    EXPECT_EQ(summary(source->listing()), (Names{"cup/a.png|0", "bike/b.png|2"}));
  }
}

TEST_F(OpenImagesTest, RefusesAnUnknownClassWithTheNearestKnownOne) {
  add("images/bycicle/a.png");
  const std::string message = at("images") + ": the model has no class \"bycicle\"";
  EXPECT_EQ(refusal("images", {.known_classes = {"cup", "bicycle"}}),
            message + "; the nearest is \"bicycle\"");
  EXPECT_EQ(refusal("images", {.known_classes = {"cup"}}), message);
}

TEST_F(OpenImagesTest, RefusesALabelBeyondTheKnownClasses) {
  add("a.png");
  write_text(folder_ / "list.txt", "a.png 0\n\na.png 1\na.png 2\n");
  write_packed_file(folder_ / "pack", *open_images(folder_ / "list.txt"), {.image_size = 2});
  const OpenOptions options{.known_classes = {"x", "y"}};
  EXPECT_EQ(refusal("list.txt", options),
            at("list.txt") + ":4: label 2 is not below the number of classes, 2");
  EXPECT_EQ(refusal("pack", options),
            at("pack") + ": label 2 is not below the number of classes, 2");
}

TEST_F(OpenImagesTest, RefusesWhatHoldsNoImageByName) {
  fs::create_directories(folder_ / "empty");
  write_text(folder_ / "texts/a.txt", "hello");
  write_text(folder_ / "empty.txt", "");
  add("classes/cup/a.png");
  fs::create_directories(folder_ / "classes/bus");
  add("nested/amazon/images/cup/a.png");
  add("mixed/b.png");
  add("mixed/cup/a.png");
  const std::string long_name(300, 'x');
  const struct {
    std::string name, message;
  } cases[] = {
      {"missing", "missing: does not exist"},
      {"missing.png", "missing.png: does not exist"},
      {"empty", "empty: holds no image (.jpg, .png, .webp, .tif, .gif or .bmp)"},
      {"texts", "texts: holds no image (.jpg, .png, .webp, .tif, .gif or .bmp)"},
      {"empty.txt", "empty.txt: lists no image"},
      {"classes", "classes/bus: class folder without images"},
      {"nested/amazon", "nested/amazon/images: class folder without images (did you mean " +
                            at("nested/amazon/images") + " itself?)"},
      {"mixed",
       "mixed: holds both images (b.png) and folders (cup); expected either a folder per class or "
       "images alone"},
      {long_name, long_name + ": cannot be opened: File name too long"},
  };
  for (const auto& [name, message] : cases) EXPECT_EQ(refusal(name), at(message));
}

TEST_F(OpenImagesTest, RefusesBadListsWithFileAndLine) {
  add("a.png");
  add("cup/b.png");
  const std::string long_name(300, 'x');
  const struct {
    std::string text, message;
  } cases[] = {
      {"a.png 0\n\nb.png 1\n", ":3: " + at("b.png") + " does not exist"},
      {"a.png\ncup\n", ":2: " + at("cup") + " is a folder"},
      {"a.png 0\na.png 1.5\n", ":2: has a name as label although the first line has a number"},
      {long_name + "\n", ":1: " + at(long_name) + " does not exist"},
      {"a.png 0\na.png\n", ":2: has no label although the first line has one"},
      {"a.png -3\n", ":1: label -3 is not between 0 and 1000000"},
      {std::string("\x7f"
                   "ELF\0\0",
                   6),
       ":1: is not text; expected one image path per line"},
  };
  for (const auto& [text, message] : cases) {
    write_text(folder_ / "list.txt", text);
    EXPECT_EQ(refusal("list.txt"), at("list.txt") + message);
  }
}

TEST_F(OpenImagesTest, ABrokenImageIsNamedWhenItIsRead) {
  test::write_broken_image(folder_ / "images/a.png");
  const auto source = open_images(folder_ / "images");
  EXPECT_EQ(message_of([&] { source->read(0); }),
            at("images/a.png") +
                ": is not an image of a known format (JPEG, PNG, WebP, TIFF, GIF or BMP)");
}

TEST_F(OpenImagesTest, SeveralPathsAreOneUnlabelledSourceInTheOrderGiven) {
  add("z/cup/a.png", 1);
  add("single.png", 2);
  add("flat/b.png", 3);
  write_packed_file(folder_ / "pack", *open_images(folder_ / "z"), {.image_size = 2});
  write_text(folder_ / "list.txt", "flat/b.png 4\n");
  const auto source =
      open_images(Names{at("z"), at("single.png"), at("pack"), at("list.txt")}, OpenOptions{});
  EXPECT_EQ(summary(source->listing()),
            (Names{"z/cup/a.png", "single.png", "z/cup/a.png", "flat/b.png"}));
  EXPECT_EQ(source->listing().origin,
            at("z") + ", " + at("single.png") + ", " + at("pack") + ", " + at("list.txt"));
  EXPECT_FALSE(source->listing().labelled());
  for (const auto& [index, mark] : {std::pair{0, 1}, {1, 2}, {2, 1}, {3, 3}}) {
    EXPECT_EQ(source->read(index).pixels,
              coordinate_image(2, 2, static_cast<uint8_t>(mark)).pixels);
  }
  EXPECT_EQ(source->read_encoded(1).size(), test::png_text(coordinate_image(2, 2, 2)).size());
  EXPECT_THROW(source->read_encoded(2), InputError);
}

TEST_F(OpenImagesTest, OnePathAmongSeveralIsUnlabelledToo) {
  add("z/cup/a.png");
  const auto source = open_images(Names{at("z")}, {.labels = Labels::kOptional});
  EXPECT_EQ(summary(source->listing()), Names{"z/cup/a.png"});
  EXPECT_EQ(source->listing().origin, at("z"));
}

TEST_F(OpenImagesTest, AMissingPathAmongSeveralIsNamed) {
  add("a.png");
  EXPECT_EQ(message_of([&] {
              open_images(Names{at("a.png"), at("b.png")}, OpenOptions{});
            }),
            at("b.png") + ": does not exist");
}

}  // namespace
}  // namespace proca::data

#include "data/source/packed_file.h"

#include <cstring>
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "data/pixels/resize.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/memory_images.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;
using test::coordinate_image;
using test::MemoryImages;
using test::message_of;
using Names = std::vector<std::string>;

constexpr PackOptions kPixels{.encoding = PackedEncoding::kPixels, .image_size = 2};
constexpr PackOptions kFiles{.encoding = PackedEncoding::kEncoded};

class PackedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    test::write_png(folder_ / "images/bike/a b.png", coordinate_image(3, 2, 1));
    test::write_png(folder_ / "images/cup/ü.png", coordinate_image(2, 2, 2));
    path_ = folder_ / "pack";
  }

  std::unique_ptr<ImageSource> images() const { return open_images(folder_ / "images"); }

  /// Packs the two images and lets `change` damage the bytes.
  void write_changed(const PackOptions& options, const std::function<void(std::string&)>& change) {
    write_packed_file(path_, *images(), options);
    auto bytes = read_text_file(path_);
    change(bytes);
    write_file(path_, bytes);
  }
  std::string refusal() const {
    return message_of([&] { open_packed_file(path_); });
  }
  std::string damage(const std::string& what) const {
    return path_.string() + ": damaged packed file: " + what;
  }

  test::TemporaryFolder folder_;
  fs::path path_;
};

// Numbers in the file, by the offsets of docs/formats/packed_file.md.
template <typename T>
T number_at(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}
template <typename T>
void put_at(std::string& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}
size_t index_offset(const std::string& bytes) { return number_at<uint64_t>(bytes, 24); }

// Makes the checksums of header, index and text match again, where there is one.
void seal(std::string& bytes) {
  const auto put_checksum = [&](size_t place, uint64_t offset, uint64_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) return;
    put_at(bytes, place, crc32(bytes_of(std::string_view(bytes).substr(offset, size))));
  };
  put_checksum(48, index_offset(bytes), 40 * number_at<uint64_t>(bytes, 16));
  put_checksum(52, number_at<uint64_t>(bytes, 32), number_at<uint64_t>(bytes, 40));
  put_checksum(60, 0, 60);
}

// Replaces the text at the end of the file.
void put_text(std::string& bytes, const std::string& text) {
  bytes.resize(number_at<uint64_t>(bytes, 32));
  bytes += text;
  put_at<uint64_t>(bytes, 40, text.size());
  seal(bytes);
}

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
                  ": is not an image of a known format (JPEG, PNG or WebP)");
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

TEST_F(PackedFileTest, RefusesWhatIsNoPackedFile) {
  EXPECT_EQ(refusal(), path_.string() + ": cannot be opened: No such file or directory");
  write_file(path_, "");
  EXPECT_EQ(refusal(), damage("the header does not fit into its 0 bytes"));
  write_file(path_, std::string(5000, 'x'));
  EXPECT_EQ(refusal(), path_.string() + ": is not a packed file");
}

TEST_F(PackedFileTest, RefusesAnUnknownVersion) {
  for (const uint32_t version : {0u, 2u}) {
    write_changed(kPixels, [&](std::string& bytes) {
      put_at(bytes, 8, version);
      seal(bytes);
    });
    EXPECT_EQ(refusal(), fmt::format("{}: packed file of version {}; this program reads version 1",
                                     path_.string(), version));
  }
}

// Opens the file and reads every image; whether something was refused.
bool damage_is_noticed(const fs::path& path) {
  try {
    const auto packed = open_packed_file(path);
    for (int64_t i = 0; i < packed->listing().size(); ++i) packed->read(i);
  } catch (const InputError&) {
    return true;
  }
  return false;
}

TEST_F(PackedFileTest, EveryDamagedByteIsNoticed) {
  for (const auto& options : {kPixels, kFiles}) {
    write_packed_file(path_, *images(), options);
    const auto bytes = read_text_file(path_);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&](size_t offset, char byte) {
      file.seekp(static_cast<std::streamoff>(offset)).put(byte).flush();
    };
    ASSERT_FALSE(damage_is_noticed(path_));
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const char change : {'\x01', '\x80', '\xff'}) {
        put(i, static_cast<char>(bytes[i] ^ change));
        EXPECT_TRUE(damage_is_noticed(path_)) << "byte " << i << " of " << bytes.size();
      }
      put(i, bytes[i]);
    }
    ASSERT_FALSE(damage_is_noticed(path_));
  }
}

TEST_F(PackedFileTest, EveryTruncationIsNoticed) {
  for (const auto& options : {kPixels, kFiles}) {
    write_packed_file(path_, *images(), options);
    for (auto size = fs::file_size(path_); size-- > 0;) {
      fs::resize_file(path_, size);
      EXPECT_TRUE(damage_is_noticed(path_)) << size << " bytes left";
    }
  }
}

TEST_F(PackedFileTest, ADamagedImageIsNamedWhenItIsReadAndTheOthersAreFine) {
  write_changed(kPixels, [](std::string& bytes) { bytes[4096 + 5] ^= 1; });
  const auto packed = open_packed_file(path_);
  EXPECT_EQ(message_of([&] { packed->read(0); }),
            fmt::format("{}, image 0 ({}): checksum does not match", path_.string(),
                        (folder_ / "images/bike/a b.png").string()));
  EXPECT_EQ(packed->read(1).pixels, coordinate_image(2, 2, 2).pixels);
}

// Files that somebody wrote wrongly: the checksums match, the content does not.
TEST_F(PackedFileTest, RefusesContentThatDoesNotFitTogether) {
  constexpr uint64_t kHuge = ~uint64_t{0};
  const struct {
    std::function<void(std::string&)> change;
    std::string what;
  } cases[] = {
      {[](auto& bytes) { put_at(bytes, 16, kHuge); },
       "18446744073709551615 images do not fit into the file"},
      {[](auto& bytes) { put_at(bytes, 24, kHuge); }, "the index does not fit into its {} bytes"},
      {[](auto& bytes) { put_at(bytes, 24, uint64_t{bytes.size() - 79}); },
       "the index does not fit into its {} bytes"},
      {[](auto& bytes) { put_at(bytes, 32, kHuge); }, "the text does not fit into its {} bytes"},
      {[](auto& bytes) { put_at(bytes, 40, kHuge); }, "the text does not fit into its {} bytes"},
      {[](auto& bytes) { bytes[100] = 1; }, "the bytes between header and images are not zero"},
      {[](auto& bytes) { put_at(bytes, index_offset(bytes), kHuge); },
       "the image does not fit into its {} bytes"},
      {[](auto& bytes) { put_at(bytes, index_offset(bytes) + 8, kHuge); },
       "the image does not fit into its {} bytes"},
      {[](auto& bytes) { put_at<uint32_t>(bytes, index_offset(bytes) + 16, 3); },
       "12 bytes for 3 x 2 pixels"},
      {[](auto& bytes) { put_at<uint32_t>(bytes, index_offset(bytes) + 20, 0); },
       "12 bytes for 2 x 0 pixels"},
      {[](auto& bytes) {
         // Three times the product is 13, but for 2^65.
         put_at<uint64_t>(bytes, index_offset(bytes) + 8, 13);
         put_at<uint32_t>(bytes, index_offset(bytes) + 16, 2900561549);
         put_at<uint32_t>(bytes, index_offset(bytes) + 20, 4239809835);
       },
       "13 bytes for 2900561549 x 4239809835 pixels"},
      {[](auto& bytes) { put_at<uint32_t>(bytes, index_offset(bytes) + 24, 2); },
       "unknown encoding 2"},
      {[](auto& bytes) { put_at<int64_t>(bytes, index_offset(bytes) + 32, 2); },
       "label 2 of image 0 is out of range"},
      {[](auto& bytes) { put_at<int64_t>(bytes, index_offset(bytes) + 32, -1); },
       "label -1 of image 0 is out of range"},
      {[](auto& bytes) { put_at<int64_t>(bytes, index_offset(bytes) + 40 + 32, -2); },
       "label -2 of image 1 is out of range"},
      {[](auto& bytes) {
         put_text(bytes, R"({"class_names":[],"label_meaning":"name","paths":["a","b"]})");
       },
       "label 0 of image 0 is out of range"},
      {[](auto& bytes) {
         put_text(bytes, R"({"class_names":["x","y"],"label_meaning":"name","paths":["a"]})");
       },
       "the number of paths is not that of the images"},
      {[](auto& bytes) {
         put_text(bytes, R"({"class_names":["x","y"],"label_meaning":"colour","paths":["a","b"]})");
       },
       "unknown label meaning colour"},
      {[](auto& bytes) {
         put_at<uint64_t>(bytes, 16, 0);
         put_text(bytes, R"({"class_names":[],"label_meaning":"name","paths":[]})");
       },
       "it holds no image"},
  };
  for (const auto& [change, what] : cases) {
    uint64_t size = 0;
    write_changed(kPixels, [&, c = change](std::string& bytes) {
      c(bytes);
      seal(bytes);
      size = bytes.size();
    });
    EXPECT_EQ(refusal(), damage(fmt::format(fmt::runtime(what), size)));
  }
}

TEST_F(PackedFileTest, RefusesTextThatIsNotTheRightJson) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"class_names":3,"label_meaning":"name","paths":[]})",
        R"({"class_names":[],"label_meaning":"name"})",
        R"({"class_names":[1],"label_meaning":"name","paths":["a","b"]})"}) {
    write_changed(kPixels, [&](std::string& bytes) { put_text(bytes, text); });
    EXPECT_EQ(refusal().substr(0, damage("").size()), damage("")) << text;
  }
}

TEST_F(PackedFileTest, RefusesWhatIsBeyondTheLimits) {
  write_packed_file(path_, *images(), kPixels);
  const auto text_size = number_at<int64_t>(read_text_file(path_), 40);
  const PackedLimits fits{.max_images = 2, .max_text_bytes = text_size, .max_classes = 2};
  EXPECT_EQ(open_packed_file(path_, fits)->listing().size(), 2);
  const auto refused = [&](PackedLimits limits) {
    return message_of([&] { open_packed_file(path_, limits); }).substr(path_.string().size());
  };
  EXPECT_EQ(refused({.max_images = 1}), ": holds 2 images; 1 are allowed");
  EXPECT_EQ(refused({.max_text_bytes = text_size - 1}),
            fmt::format(": holds {} bytes of text; {} are allowed", text_size, text_size - 1));
  EXPECT_EQ(refused({.max_classes = 1}), ": holds 2 classes; 1 are allowed");
}

TEST_F(PackedFileTest, RefusesTextThatNestsTooDeeply) {
  const std::string deep(33, '[');
  write_changed(kPixels, [&](std::string& bytes) { put_text(bytes, deep); });
  EXPECT_EQ(refusal(), path_.string() + ": has JSON that nests more than 32 levels deep");
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

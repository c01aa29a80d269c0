// Packed files that are damaged, or made by hand and wrong.

#include <cstring>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/source/packed_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/message_of.h"
#include "support/test_images.h"

#include "data/packed_file_fixture.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;
using test::coordinate_image;
using test::message_of;

class PackedFileDamageTest : public PackedFileTest {};

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

TEST_F(PackedFileDamageTest, RefusesWhatIsNoPackedFile) {
  EXPECT_EQ(refusal(), path_.string() + ": cannot be opened: No such file or directory");
  write_file(path_, "");
  EXPECT_EQ(refusal(), damage("the header does not fit into its 0 bytes"));
  write_file(path_, std::string(5000, 'x'));
  EXPECT_EQ(refusal(), path_.string() + ": is not a packed file");
}

TEST_F(PackedFileDamageTest, RefusesAnUnknownVersion) {
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

TEST_F(PackedFileDamageTest, EveryDamagedByteIsNoticed) {
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

TEST_F(PackedFileDamageTest, EveryTruncationIsNoticed) {
  for (const auto& options : {kPixels, kFiles}) {
    write_packed_file(path_, *images(), options);
    for (auto size = fs::file_size(path_); size-- > 0;) {
      fs::resize_file(path_, size);
      EXPECT_TRUE(damage_is_noticed(path_)) << size << " bytes left";
    }
  }
}

TEST_F(PackedFileDamageTest, ADamagedImageIsNamedWhenItIsReadAndTheOthersAreFine) {
  write_changed(kPixels, [](std::string& bytes) { bytes[4096 + 5] ^= 1; });
  const auto packed = open_packed_file(path_);
  EXPECT_EQ(message_of([&] { packed->read(0); }),
            fmt::format("{}, image 0 ({}): checksum does not match", path_.string(),
                        (folder_ / "images/bike/a b.png").string()));
  EXPECT_EQ(packed->read(1).pixels, coordinate_image(2, 2, 2).pixels);
}

struct WrongContent {
  std::function<void(std::string&)> change;
  std::string what;
};

// Numbers that do not fit together.
std::vector<WrongContent> wrong_numbers() {
  constexpr uint64_t kHuge = ~uint64_t{0};
  return {
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
  };
}

// Texts that do not fit the numbers.
std::vector<WrongContent> wrong_texts() {
  return {
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
}

// Files with checksums that match and content that does not.
TEST_F(PackedFileDamageTest, RefusesContentThatDoesNotFitTogether) {
  auto cases = wrong_numbers();
  const auto texts = wrong_texts();
  cases.insert(cases.end(), texts.begin(), texts.end());
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

TEST_F(PackedFileDamageTest, RefusesTextThatIsNotTheRightJson) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"class_names":3,"label_meaning":"name","paths":[]})",
        R"({"class_names":[],"label_meaning":"name"})",
        R"({"class_names":[1],"label_meaning":"name","paths":["a","b"]})"}) {
    write_changed(kPixels, [&](std::string& bytes) { put_text(bytes, text); });
    EXPECT_EQ(refusal().substr(0, damage("").size()), damage("")) << text;
  }
}

TEST_F(PackedFileDamageTest, RefusesWhatIsBeyondTheLimits) {
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

TEST_F(PackedFileDamageTest, RefusesTextThatNestsTooDeeply) {
  const std::string deep(33, '[');
  write_changed(kPixels, [&](std::string& bytes) { put_text(bytes, deep); });
  EXPECT_EQ(refusal(), path_.string() + ": has JSON that nests more than 32 levels deep");
}

}  // namespace
}  // namespace proca::data

#include <gtest/gtest.h>
#include <torch/types.h>

#include "models/weight_bytes.h"

namespace proca::models {
namespace {

using test::little;
using test::Pickle;
using test::read_bytes;
using test::refusal;
using test::Zip;

const std::string kOneTwo("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);  // two floats

std::string pickle_of_x(int64_t storage_size = 2) {
  return Pickle().raw("}").text("x").tensor(storage_size, 0, {2}, {1}).raw("s").done();
}

/// A good archive, to be spoilt.
Zip good_zip() {
  Zip zip;
  zip.add("a/data.pkl", pickle_of_x());
  zip.add("a/data/0", kOneTwo);
  zip.add("a/version", "3\n");
  return zip;
}

void expect_one_two(const std::string& bytes) {
  const auto file = read_bytes(bytes);
  EXPECT_TRUE(torch::equal(file.tensors.at("x"), torch::tensor({1.0F, 2.0F})));
}

void expect_refused(const Zip& zip, const std::string& message) {
  const auto actual = refusal(zip.done());
  EXPECT_NE(actual.find(message), std::string::npos)
      << "instead of \"" << message << "\": " << actual;
}

TEST(PthZipTest, ReadsStoredFilesWithOrWithoutZip64) {
  auto zip = good_zip();
  expect_one_two(zip.done());
  zip.entries[1].zip64 = true;
  expect_one_two(zip.done());
  zip.add("a/byteorder", "little");
  expect_one_two(zip.done());
}

TEST(PthZipTest, RefusesCompressedAndEncryptedFiles) {
  auto zip = good_zip();
  zip.entries[1].method = 8;
  expect_refused(zip, "\"a/data/0\" is compressed; torch.save stores its files uncompressed");
  zip = good_zip();
  zip.entries[1].flags = 1;
  expect_refused(zip, "encrypted");
}

TEST(PthZipTest, RefusesDamagedContent) {
  auto zip = good_zip();
  ++zip.entries[0].crc;
  expect_refused(zip, "\"a/data.pkl\" is damaged");
  zip = good_zip();
  ++zip.entries[1].crc;
  expect_refused(zip, "\"a/data/0\" is damaged");
}

TEST(PthZipTest, RefusesADirectoryThatDoesNotMatchTheFiles) {
  auto zip = good_zip();
  zip.entries[1].local_name = "a/data/1";
  expect_refused(zip, "another name");
  zip = good_zip();
  zip.entries[1].size = 4;
  expect_refused(zip, "disagree");
  zip = good_zip();
  zip.entries[1].size = uint64_t{1} << 40;
  zip.entries[1].zip64 = true;
  expect_refused(zip, "disagree");
  zip = good_zip();
  zip.entries[2].same_place_as = 1;
  zip.entries[2].size = 8;
  expect_refused(zip, "another name");
  zip = good_zip();
  zip.entries[2] = zip.entries[1];
  expect_refused(zip, "\"a/data/0\" appears twice");
  zip = good_zip();
  zip.extra_entries = 1;
  expect_refused(zip, "zip");
  zip = good_zip();
  zip.extra_entries = -1;
  expect_refused(zip, "more entries than it promises");
  zip = good_zip();
  zip.extra_entries = 10'000;
  expect_refused(zip, "not where the end record points");
  zip = good_zip();
  zip.comment = "hello";
  expect_refused(zip, "does not end in a zip directory");
}

// An archive inside an archive: the outer file's content is the inner file.
TEST(PthZipTest, RefusesFilesThatOverlap) {
  Zip zip = good_zip();
  const auto inner = std::string("PK\x03\x04") + little(0, 10) +
                     little(crc32(bytes_of(kOneTwo)), 4) + little(8, 4) + little(8, 4) +
                     little(8, 2) + little(0, 2) + "a/data/0" + kOneTwo;
  Zip outer;
  outer.add("a/data.pkl", pickle_of_x());
  outer.add("a/hidden", inner);
  auto bytes = outer.done();
  // The directory gets a further entry that points into the content of "a/hidden".
  const auto place = bytes.find(inner);
  const auto entry = "PK\x01\x02" + little(0, 12) + little(crc32(bytes_of(kOneTwo)), 4) +
                     little(8, 4) + little(8, 4) + little(8, 2) + little(0, 12) + little(place, 4) +
                     "a/data/0";
  const auto end = bytes.size() - 22;
  const auto size = bytes.find("PK\x01\x02");
  bytes = bytes.substr(0, end) + entry + "PK\x05\x06" + little(0, 4) + little(3, 2) + little(3, 2) +
          little(end - size + entry.size(), 4) + little(size, 4) + little(0, 2);
  EXPECT_NE(refusal(bytes).find("overlap"), std::string::npos) << refusal(bytes);
}

// A directory of nothing, and end records that promise `count` files in it.
std::string archive_of(uint64_t count) {
  const uint64_t size = count * 46;
  std::string file = "PK\x03\x04" + std::string(size, '\0');
  file += "PK\x06\x06" + little(44, 8) + little(0, 12) + little(count, 8) + little(count, 8) +
          little(size, 8) + little(4, 8);
  file += "PK\x06\x07" + little(0, 4) + little(4 + size, 8) + little(1, 4);
  return file + "PK\x05\x06" + little(0, 4) + little(0xffffffff, 4) + little(~uint64_t{0}, 8) +
         little(0, 2);
}

TEST(PthZipTest, RefusesMoreFilesThanAllowed) {
  EXPECT_NE(refusal(archive_of(1'000'000)).find("an entry is broken"), std::string::npos);
  EXPECT_NE(refusal(archive_of(1'000'001)).find("it holds 1000001 files; 1000000 are allowed"),
            std::string::npos);
}

TEST(PthZipTest, RefusesArchivesThatAreNotOfTorchSave) {
  Zip other;
  other.add("readme.txt", "hello");
  expect_refused(other, "no data.pkl");
  auto twice = good_zip();
  twice.add("b/data.pkl", pickle_of_x());
  expect_refused(twice, "more than one data.pkl");
  auto script = good_zip();
  script.add("a/constants.pkl", "");
  expect_refused(script, "TorchScript");
  auto big = good_zip();
  big.add("a/byteorder", "big");
  expect_refused(big, "big-endian");
}

TEST(PthZipTest, RefusesStoragesThatAreNotAsDescribed) {
  Zip missing;
  missing.add("a/data.pkl", pickle_of_x());
  expect_refused(missing, "\"a/data/0\" is missing");
  Zip large;
  large.add("a/data.pkl", pickle_of_x(3));
  large.add("a/data/0", kOneTwo);
  expect_refused(large, "has 8 bytes, not the 12");
  Zip trailing;
  trailing.add("a/data.pkl", pickle_of_x() + "x");
  trailing.add("a/data/0", kOneTwo);
  expect_refused(trailing, "1 bytes follow");
  Zip bytes;
  bytes.add("a/data.pkl", Pickle()
                              .raw("}")
                              .text("x")
                              .global("torch._utils", "_rebuild_tensor_v2")
                              .raw("(")
                              .storage("BoolStorage", "0", 8)
                              .number(0)
                              .numbers({8})
                              .numbers({1})
                              .raw("\x89}tRs")
                              .done());
  bytes.add("a/data/0", kOneTwo);
  expect_refused(bytes, "neither 0 nor 1");
}

}  // namespace
}  // namespace proca::models

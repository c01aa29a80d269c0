#include "models/weights/pth/zip_directory.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/weights/byte_reader.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca::models {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kLocator64Size = 20;
constexpr uint64_t kCentralSize = 46;
constexpr uint16_t kZip64Extra = 1;

// The value of a field that is too small for its number: the zip64 record has it.
constexpr uint32_t kIn64 = 0xffffffff;
constexpr uint16_t kIn64Short = 0xffff;

// Flag bits that do not matter here: sizes repeated after the content, UTF-8 names.
constexpr uint16_t kHarmlessFlags = 1 << 3 | 1 << 11;

struct EndRecord {
  uint64_t num_entries = 0;
  uint64_t size = 0;   // of the central directory
  uint64_t begin = 0;  // of the central directory
  uint64_t end = 0;    // where it must end: where the end records begin
};

// The zip64 record and the locator that points to it lie between the directory
// and the end record.
std::optional<EndRecord> read_end64(std::span<const uint8_t> file, const std::string& origin) {
  if (file.size() < kEndSize + kLocator64Size) return std::nullopt;
  const uint64_t locator_begin = file.size() - kEndSize - kLocator64Size;
  ByteReader locator(file.subspan(locator_begin), origin + ": bad zip64 locator");
  if (locator.take_number<uint32_t>() != kLocator64Signature) return std::nullopt;
  const auto disk = locator.take_number<uint32_t>();
  EndRecord record;
  record.end = locator.take_number<uint64_t>();
  if (disk != 0 || locator.take_number<uint32_t>() > 1) locator.fail("the archive has many parts");
  if (record.end > locator_begin) locator.fail("it points outside the file");

  ByteReader reader(file.subspan(record.end, locator_begin - record.end),
                    origin + ": bad zip64 end record");
  if (reader.take_number<uint32_t>() != kEnd64Signature)
    reader.fail("it is not where it should be");
  const auto size = reader.take_number<uint64_t>();
  if (size != reader.remaining()) reader.fail("its size is wrong");
  reader.take_number<uint32_t>();  // versions
  const auto this_disk = reader.take_number<uint32_t>();
  const auto first_disk = reader.take_number<uint32_t>();
  const auto entries_here = reader.take_number<uint64_t>();
  record.num_entries = reader.take_number<uint64_t>();
  record.size = reader.take_number<uint64_t>();
  record.begin = reader.take_number<uint64_t>();
  if (this_disk != 0 || first_disk != 0 || entries_here != record.num_entries) {
    reader.fail("the archive has many parts");
  }
  return record;
}

EndRecord read_end(std::span<const uint8_t> file, const std::string& origin) {
  const std::string name = origin + ": bad zip archive";
  if (file.size() < kEndSize) ByteReader(file, name).fail("it is too short (is it cut off?)");
  ByteReader reader(file.subspan(file.size() - kEndSize), name);
  if (reader.take_number<uint32_t>() != kEndSignature) {
    reader.fail("it does not end in a zip directory (is it cut off?)");
  }
  const auto this_disk = reader.take_number<uint16_t>();
  const auto first_disk = reader.take_number<uint16_t>();
  const auto entries_here = reader.take_number<uint16_t>();
  EndRecord record;
  record.num_entries = reader.take_number<uint16_t>();
  record.size = reader.take_number<uint32_t>();
  record.begin = reader.take_number<uint32_t>();
  record.end = file.size() - kEndSize;
  if (this_disk != 0 || first_disk != 0 || entries_here != record.num_entries) {
    reader.fail("the archive has many parts");
  }
  if (reader.take_number<uint16_t>() != 0) reader.fail("it has a comment");

  if (const auto record64 = read_end64(file, origin)) {
    const auto agrees = [](uint64_t small, uint64_t large, uint64_t placeholder) {
      return small == large || small == placeholder;
    };
    if (!agrees(record.num_entries, record64->num_entries, kIn64Short) ||
        !agrees(record.size, record64->size, kIn64) ||
        !agrees(record.begin, record64->begin, kIn64)) {
      reader.fail("its two end records disagree");
    }
    record = *record64;
  }
  if (record.begin > record.end || record.size != record.end - record.begin ||
      record.num_entries > record.size / kCentralSize) {
    reader.fail("its directory is not where the end record points");
  }
  if (record.num_entries > kMaxZipEntries) {
    reader.fail(
        fmt::format("it holds {} files; {} are allowed", record.num_entries, kMaxZipEntries));
  }
  return record;
}

// Replaces fields that refer to the zip64 record by their values there.
void apply_zip64(std::span<const uint8_t> extra, uint64_t& full_size, uint64_t& stored_size,
                 uint64_t& offset, const std::string& name) {
  ByteReader reader(extra, name);
  while (reader.remaining() > 0) {
    const auto id = reader.take_number<uint16_t>();
    const auto content = reader.take(reader.take_number<uint16_t>());
    if (id != kZip64Extra) continue;
    ByteReader fields(content, name);
    for (uint64_t* field : {&full_size, &stored_size, &offset}) {
      if (*field == kIn64) *field = fields.take_number<uint64_t>();
    }
    return;
  }
}

}  // namespace

ZipDirectory::ZipDirectory(std::span<const uint8_t> file, std::string origin)
    : file_(file), origin_(std::move(origin)) {
  const auto end = read_end(file_, origin_);
  read_central_directory(file_.subspan(end.begin, end.size), end.num_entries);
  for (auto& [name, entry] : entries_) check_local_header(name, entry, end.begin);
  check_overlaps();
}

void ZipDirectory::read_central_directory(std::span<const uint8_t> directory,
                                          uint64_t num_entries) {
  ByteReader reader(directory, origin_ + ": bad zip directory");
  for (uint64_t i = 0; i < num_entries; ++i) {
    if (reader.take_number<uint32_t>() != kCentralSignature) reader.fail("an entry is broken");
    reader.take_number<uint32_t>();  // versions
    const auto flags = reader.take_number<uint16_t>();
    const auto method = reader.take_number<uint16_t>();
    reader.take_number<uint32_t>();  // date and time
    Entry entry;
    entry.crc = reader.take_number<uint32_t>();
    uint64_t stored_size = reader.take_number<uint32_t>();
    entry.size = reader.take_number<uint32_t>();
    const auto name_size = reader.take_number<uint16_t>();
    const auto extra_size = reader.take_number<uint16_t>();
    const auto comment_size = reader.take_number<uint16_t>();
    const auto disk = reader.take_number<uint16_t>();
    reader.take(6);  // attributes
    entry.begin = reader.take_number<uint32_t>();
    const std::string name(reader.take_text(name_size));
    apply_zip64(reader.take(extra_size), entry.size, stored_size, entry.begin,
                origin_ + ": bad zip64 field");
    reader.take(comment_size);

    if (method != 0) {
      reader.fail(fmt::format("{} is compressed; torch.save stores its files uncompressed",
                              printable(name)));
    }
    if ((flags & ~kHarmlessFlags) != 0) {
      reader.fail(fmt::format("{} is encrypted or has unknown flags", printable(name)));
    }
    if (stored_size != entry.size) reader.fail(fmt::format("{} has two sizes", printable(name)));
    if (disk != 0) reader.fail("the archive has many parts");
    if (!entries_.emplace(name, entry).second) {
      reader.fail(fmt::format("{} appears twice", printable(name)));
    }
  }
  if (reader.remaining() != 0) reader.fail("it has more entries than it promises");
}

void ZipDirectory::check_local_header(const std::string& name, Entry& entry,
                                      uint64_t directory_begin) const {
  if (entry.begin > directory_begin) {
    throw InputError(
        fmt::format("{}: bad zip archive: {} lies outside the file", origin_, printable(name)));
  }
  ByteReader reader(file_.subspan(entry.begin, directory_begin - entry.begin),
                    fmt::format("{}: bad zip entry {}", origin_, printable(name)));
  if (reader.take_number<uint32_t>() != kLocalSignature)
    reader.fail("it is not where it should be");
  reader.take_number<uint16_t>();  // version
  const auto flags = reader.take_number<uint16_t>();
  const auto method = reader.take_number<uint16_t>();
  reader.take_number<uint32_t>();  // date and time
  const auto crc = reader.take_number<uint32_t>();
  uint64_t stored_size = reader.take_number<uint32_t>();
  uint64_t size = reader.take_number<uint32_t>();
  const auto name_size = reader.take_number<uint16_t>();
  const auto extra_size = reader.take_number<uint16_t>();
  if (reader.take_text(name_size) != name) reader.fail("its local header has another name");
  const auto extra = reader.take(extra_size);
  if (method != 0 || (flags & ~kHarmlessFlags) != 0) {
    reader.fail("its local header requires compression or encryption");
  }
  // A writer that streams leaves these at 0 and puts them after the content.
  const bool sizes_follow = (flags & 1 << 3) != 0 && crc == 0 && stored_size == 0 && size == 0;
  if (!sizes_follow) {
    uint64_t no_offset = 0;
    apply_zip64(extra, size, stored_size, no_offset, origin_ + ": bad zip64 field");
    if (crc != entry.crc || size != entry.size || stored_size != entry.size) {
      reader.fail("its local header and the directory disagree");
    }
  }
  entry.data_begin = entry.begin + reader.position();
  reader.take(entry.size);
}

// With several names for the same bytes, a small file could allocate a lot of memory.
void ZipDirectory::check_overlaps() const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : entries_) {
    ranges.emplace_back(entry.begin, entry.data_begin + entry.size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) {
      throw InputError(fmt::format("{}: bad zip archive: its files overlap", origin_));
    }
  }
}

std::span<const uint8_t> ZipDirectory::read(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw InputError(fmt::format("{}: bad zip archive: {} is missing", origin_, printable(name)));
  }
  const auto& entry = found->second;
  const auto content = file_.subspan(entry.data_begin, entry.size);
  if (crc32(content) != entry.crc) {
    throw InputError(fmt::format("{}: {} is damaged: its CRC-32 is {:08x}, not {:08x}", origin_,
                                 printable(name), crc32(content), entry.crc));
  }
  return content;
}

}  // namespace proca::models

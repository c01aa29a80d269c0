#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace proca::models {

/// The files one archive may have: one per tensor, and a few.
inline constexpr uint64_t kMaxZipEntries = 1'000'000;

/// The files inside a zip archive, as `torch.save` writes it: stored, not
/// compressed, so that reading one is a look into the mapped file.
///
/// LibTorch's own reader allocates what a file claims before it checks whether the
/// file can hold it. Here the constructor checks, without allocating more than the
/// list of names:
///
/// - the end record is the last thing in the file, and its zip64 twin, where
///   there is one, agrees;
/// - the directory lies directly before it and holds exactly as many entries as
///   promised, `kMaxZipEntries` at most, with no name twice;
/// - every entry is stored and not encrypted, lies before the directory, has a
///   local header of the same name and size, and overlaps no other.
///
/// `read` then compares the CRC-32. All failures are `InputError` beginning
/// with `origin`. The bytes must outlive the object.
class ZipDirectory {
 public:
  ZipDirectory(std::span<const uint8_t> file, std::string origin);

  struct Entry {
    uint64_t begin = 0;       ///< offset of the local header
    uint64_t data_begin = 0;  ///< offset of the content
    uint64_t size = 0;
    uint32_t crc = 0;
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }
  bool contains(const std::string& name) const { return entries_.contains(name); }

  /// The content of an entry. Throws when there is none or its CRC-32 differs.
  std::span<const uint8_t> read(const std::string& name) const;

 private:
  void read_central_directory(std::span<const uint8_t> directory, uint64_t num_entries);
  void check_local_header(const std::string& name, Entry& entry, uint64_t directory_begin) const;
  void check_overlaps() const;

  std::span<const uint8_t> file_;
  std::string origin_;
  std::map<std::string, Entry> entries_;
};

}  // namespace proca::models

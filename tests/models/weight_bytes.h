#pragma once

// Weight files made by hand, byte by byte, for the cases that no program writes.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/models/weight_file.h"

#include "models/weights/safetensors.h"
#include "support/temporary_folder.h"

namespace proca::test {

/// The `size` lowest bytes of a number, lowest first.
inline std::string little(uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// Writes bytes to a file and reads them back as weights.
inline models::WeightFile read_bytes(std::string_view bytes) {
  static const TemporaryFolder folder;
  const auto path = folder / "weights";
  std::filesystem::remove(path);  // Much faster than truncating on some file systems.
  std::ofstream(path, std::ios::binary) << bytes;
  return models::read_weight_file(path);
}

/// The bytes of the file that `write_safetensors` writes.
inline std::string safetensors_bytes(const std::map<std::string, torch::Tensor>& tensors,
                                     const std::map<std::string, std::string>& metadata = {}) {
  const TemporaryFolder folder;
  models::write_safetensors(folder / "file", tensors, metadata, Sync::kLater);
  return read_text_file(folder / "file");
}

/// The message of the `InputError` that reading these bytes gives; empty where
/// it gives none.
inline std::string refusal(std::string_view bytes) {
  try {
    read_bytes(bytes);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// A pickle, opcode by opcode.
class Pickle {
 public:
  Pickle& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Pickle& text(std::string_view value) { return raw("X").raw(little(value.size(), 4)).raw(value); }
  Pickle& number(int64_t value) {  // LONG1
    return raw("\x8a").raw("\x08").raw(little(static_cast<uint64_t>(value), 8));
  }
  Pickle& numbers(const std::vector<int64_t>& values) {
    raw("(");
    for (const auto value : values) number(value);
    return raw("t");
  }
  Pickle& global(std::string_view module, std::string_view name) {
    return raw("c").raw(module).raw("\n").raw(name).raw("\n");
  }
  Pickle& storage(std::string_view type, std::string_view key, int64_t count) {
    return raw("(")
        .text("storage")
        .global("torch", type)
        .text(key)
        .text("cpu")
        .number(count)
        .raw("NtQ");
  }
  /// A float tensor that looks into storage "0".
  Pickle& tensor(int64_t storage_size, int64_t offset, const std::vector<int64_t>& size,
                 const std::vector<int64_t>& stride) {
    return global("torch._utils", "_rebuild_tensor_v2")
        .raw("(")
        .storage("FloatStorage", "0", storage_size)
        .number(offset)
        .numbers(size)
        .numbers(stride)
        .raw("\x89}tR");
  }
  /// The bytes so far, closed.
  std::string done() const { return bytes_ + "."; }

 private:
  std::string bytes_ = "\x80\x02";
};

/// A file of the older stream format around an object's pickle. Every storage
/// is named by its position and holds the given floats.
inline std::string stream_file(const std::string& object,
                               const std::vector<std::vector<float>>& storages,
                               std::string_view little_endian = "\x88") {
  std::string file("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.",
                   21);
  file += Pickle().raw("}").text("little_endian").raw(little_endian).raw("s").done();
  file += object;
  Pickle keys;
  keys.raw("](");
  for (size_t i = 0; i < storages.size(); ++i) keys.text(std::to_string(i));
  file += keys.raw("e").done();
  for (const auto& storage : storages) {
    file += little(storage.size(), 8);
    file.append(reinterpret_cast<const char*>(storage.data()), storage.size() * sizeof(float));
  }
  return file;
}

/// A zip archive of stored files. The fields can be changed before `done()`.
class Zip {
 public:
  struct Entry {
    std::string name;
    std::string content;
    uint32_t crc = 0;
    uint16_t flags = 0;
    uint16_t method = 0;
    std::string local_name;      ///< what the local header says
    uint64_t size = 0;           ///< what the directory says
    int64_t same_place_as = -1;  ///< index of an entry whose bytes it shares
    bool zip64 = false;          ///< sizes and offset in the extra field
  };

  Entry& add(const std::string& name, const std::string& content) {
    entries.push_back({.name = name,
                       .content = content,
                       .crc = crc32(bytes_of(content)),
                       .local_name = name,
                       .size = content.size()});
    return entries.back();
  }

  std::string done() const {
    std::string file, directory;
    std::vector<uint64_t> offsets;
    for (const auto& entry : entries) {
      uint64_t offset = file.size();
      if (entry.same_place_as >= 0) {
        offset = offsets[static_cast<size_t>(entry.same_place_as)];
      } else {
        file += "PK\x03\x04" + little(0, 2) + little(entry.flags, 2) + little(entry.method, 2) +
                little(0, 4) + little(entry.crc, 4) + little(entry.content.size(), 4) +
                little(entry.content.size(), 4) + little(entry.local_name.size(), 2) +
                little(0, 2) + entry.local_name + entry.content;
      }
      offsets.push_back(offset);
      const auto extra = entry.zip64 ? little(1, 2) + little(24, 2) + little(entry.size, 8) +
                                           little(entry.size, 8) + little(offset, 8)
                                     : std::string();
      const uint64_t in_extra = 0xffffffff;
      directory += "PK\x01\x02" + little(0, 4) + little(entry.flags, 2) + little(entry.method, 2) +
                   little(0, 4) + little(entry.crc, 4) +
                   little(entry.zip64 ? in_extra : entry.size, 4) +
                   little(entry.zip64 ? in_extra : entry.size, 4) + little(entry.name.size(), 2) +
                   little(extra.size(), 2) + little(0, 2) + little(0, 2) + little(0, 6) +
                   little(entry.zip64 ? in_extra : offset, 4) + entry.name + extra;
    }
    const auto count = static_cast<uint64_t>(static_cast<int64_t>(entries.size()) + extra_entries);
    return file + directory + "PK\x05\x06" + little(0, 4) + little(count, 2) + little(count, 2) +
           little(directory.size(), 4) + little(file.size(), 4) + little(comment.size(), 2) +
           comment;
  }

  std::vector<Entry> entries;
  int64_t extra_entries = 0;  ///< entries that the end record claims beyond those there are
  std::string comment;
};

/// A safetensors file around a header text.
inline std::string safetensors_file(const std::string& header, const std::string& data) {
  return little(header.size(), 8) + header + data;
}

}  // namespace proca::test

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace proca {

/// What the names of TensorBoard's files begin with.
inline constexpr std::string_view kTensorBoardPrefix = "events.out.tfevents.";

/// Writes a file that TensorBoard shows: values and images by tag and step. A reader may
/// follow it while it grows.
///
/// The file is a sequence of records: length (uint64, little-endian), checksum of the
/// length, content, checksum of the content. Contents are protocol buffers of type
/// `tensorflow.Event`, checksums CRC-32C, rotated and offset ("masked").
class TensorBoardWriter {
 public:
  /// Begins a new file in `folder`, which is created; TensorBoard shows all files of a
  /// folder together. Throws `InputError` when the folder cannot be written to.
  explicit TensorBoardWriter(const std::filesystem::path& folder);
  ~TensorBoardWriter();
  TensorBoardWriter(const TensorBoardWriter&) = delete;
  TensorBoardWriter& operator=(const TensorBoardWriter&) = delete;

  void scalar(std::string_view tag, int64_t step, double value);
  /// An RGB image of a format that browsers know, encoded.
  void image(std::string_view tag, int64_t step, int64_t width, int64_t height,
             std::span<const uint8_t> encoded);

  const std::filesystem::path& path() const { return path_; }

 private:
  void write_event(std::string_view fields);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// CRC-32C (Castagnoli), which is not the CRC-32 of `crc32`.
uint32_t crc32c(std::span<const uint8_t> bytes);

}  // namespace proca

#include "core/tensorboard.h"

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// The wire format of protocol buffers: a field is its number and kind, then its value.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string key(uint64_t number, uint64_t kind) { return varint(number << 3 | kind); }
std::string integer_field(uint64_t number, int64_t value) {
  return key(number, 0) + varint(static_cast<uint64_t>(value));
}
std::string double_field(uint64_t number, double value) { return key(number, 1) + raw(value); }
std::string float_field(uint64_t number, float value) { return key(number, 5) + raw(value); }
std::string bytes_field(uint64_t number, std::string_view value) {
  return key(number, 2) + varint(value.size()) + std::string(value);
}

// tensorflow.Event and what it holds; the numbers are those of its fields.
constexpr uint64_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
constexpr uint64_t kSummaryValue = 1;                                    // Summary
constexpr uint64_t kTag = 1, kSimpleValue = 2, kImage = 4;               // Summary.Value
constexpr uint64_t kHeight = 1, kWidth = 2, kColours = 3, kEncoded = 4;  // Summary.Image
constexpr int64_t kRgb = 3;

std::string value_of(int64_t step, std::string_view tag, const std::string& value) {
  return integer_field(kStep, step) +
         bytes_field(kSummary, bytes_field(kSummaryValue, bytes_field(kTag, tag) + value));
}

// A checksum of data that holds checksums is weak: hence the mask.
std::string masked_checksum(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes_of(bytes));
  return raw(static_cast<uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8));
}

// As TensorBoard expects it, and no two alike.
std::string file_name() {
  static std::atomic<int64_t> number = 0;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}{:010}.{}.{}.{}", kTensorBoardPrefix,
                     std::chrono::duration_cast<std::chrono::seconds>(now).count(), host.data(),
                     ::getpid(), number++);
}

std::array<uint32_t, 256> crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte;
    for (int bit = 0; bit < 8; ++bit) {
      table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0x82f63b78 : 0);
    }
  }
  return table;
}

}  // namespace

uint32_t crc32c(std::span<const uint8_t> bytes) {
  static const auto table = crc32c_table();
  uint32_t crc = ~uint32_t{0};
  for (const uint8_t byte : bytes) crc = crc >> 8 ^ table[(crc ^ byte) & 0xff];
  return ~crc;
}

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& folder) {
  create_writable_folder(folder);
  path_ = folder / file_name();
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw InputError(
        fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
  }
  write_event(bytes_field(kFileVersion, "brain.Event:2"));
}

TensorBoardWriter::~TensorBoardWriter() { ::close(descriptor_); }

void TensorBoardWriter::scalar(std::string_view tag, int64_t step, double value) {
  write_event(value_of(step, tag, float_field(kSimpleValue, static_cast<float>(value))));
}

void TensorBoardWriter::image(std::string_view tag, int64_t step, int64_t width, int64_t height,
                              std::span<const uint8_t> encoded) {
  const std::string_view bytes(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  write_event(value_of(
      step, tag,
      bytes_field(kImage, integer_field(kHeight, height) + integer_field(kWidth, width) +
                              integer_field(kColours, kRgb) + bytes_field(kEncoded, bytes))));
}

void TensorBoardWriter::write_event(std::string_view fields) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto content =
      double_field(kWallTime, std::chrono::duration<double>(now).count()) + std::string(fields);
  const auto length = raw(static_cast<uint64_t>(content.size()));
  // In one piece: who follows the file sees whole records.
  const auto record = length + masked_checksum(length) + content + masked_checksum(content);
  if (::write(descriptor_, record.data(), record.size()) != static_cast<ssize_t>(record.size())) {
    throw Error(fmt::format("{}: writing failed: {}", path_.string(), std::strerror(errno)));
  }
}

}  // namespace proca

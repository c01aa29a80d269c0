#include <unordered_map>

#include <fmt/format.h>

#include "models/weights/byte_reader.h"
#include "models/weights/checked_shape.h"
#include "models/weights/pth/pickle_reader.h"
#include "models/weights/pth/pth_reader.h"
#include "proca/core/error.h"

namespace proca::models {
namespace {

using namespace std::string_view_literals;

constexpr auto kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;  // little-endian
constexpr int64_t kProtocolVersion = 1001;

[[noreturn]] void fail(const std::string& origin, std::string_view reason) {
  throw InputError(fmt::format("{}: {}", origin, reason));
}

void check_byte_order(const PickleDocument& system, const std::string& origin) {
  const auto* little = system.find(system.root_value(), "little_endian");
  if (little == nullptr || little->kind != PickleKind::kBool) {
    fail(origin, "does not say which byte order it has");
  }
  if (little->integer == 0) fail(origin, "was written on a big-endian machine");
}

/// The bytes of every storage that the object refers to, by key.
using Storages = std::unordered_map<std::string_view, std::span<const uint8_t>>;

Storages find_storages(const PickleDocument& object, const PickleDocument& keys,
                       ByteReader& reader) {
  std::unordered_map<std::string_view, const PickledStorage*> known;
  for (const auto& storage : object.storages) known.emplace(storage.key, &storage);
  if (keys.root_value().kind != PickleKind::kList) reader.fail("the list of storages is missing");

  Storages storages;
  for (const auto handle : keys.root_value().items) {
    const auto& key = keys.values[handle];
    const auto found = key.kind == PickleKind::kText ? known.find(key.text) : known.end();
    if (found == known.end()) reader.fail("a storage belongs to no tensor");
    const auto& storage = *found->second;
    const auto count = reader.take_number<uint64_t>();
    if (count != static_cast<uint64_t>(storage.num_elements)) {
      reader.fail(fmt::format("storage {} has {} elements, not the {} it should have",
                              printable(storage.key), count, storage.num_elements));
    }
    const auto size = checked_num_bytes(storage.num_elements, storage.dtype);
    const auto content = reader.take(static_cast<uint64_t>(*size));
    if (!storages.emplace(storage.key, content).second) {
      reader.fail(fmt::format("storage {} appears twice", printable(storage.key)));
    }
  }
  return storages;
}

}  // namespace

WeightFile read_pth_stream(std::span<const uint8_t> file, const std::string& origin) {
  uint64_t position = 0;
  const auto next_pickle = [&] {
    auto document = read_pickle(file.subspan(position), origin);
    position += document.size;
    return document;
  };

  const auto magic = next_pickle();
  if (magic.root_value().kind != PickleKind::kBigInteger || magic.root_value().text != kMagic) {
    fail(origin, "is a pickle, but not one of torch.save");
  }
  const auto version = next_pickle();
  if (version.root_value().kind != PickleKind::kInteger ||
      version.root_value().integer != kProtocolVersion) {
    fail(origin, "has an unknown version of torch.save's older format");
  }
  check_byte_order(next_pickle(), origin);
  const auto object = next_pickle();
  const auto keys = next_pickle();

  ByteReader reader(file.subspan(position), origin + ": bad storages");
  const auto storages = find_storages(object, keys, reader);
  if (reader.remaining() != 0) {
    reader.fail(fmt::format("{} bytes follow the last one", reader.remaining()));
  }
  return weights_of(
      object,
      [&](const PickledStorage& storage) {
        const auto found = storages.find(storage.key);
        if (found == storages.end()) {
          fail(origin, fmt::format("storage {} is missing", printable(storage.key)));
        }
        return found->second;
      },
      origin);
}

}  // namespace proca::models

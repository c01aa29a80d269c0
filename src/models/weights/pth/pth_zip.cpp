#include <fmt/format.h>

#include "models/weights/byte_reader.h"
#include "models/weights/checked_shape.h"
#include "models/weights/pth/pickle_reader.h"
#include "models/weights/pth/pth_reader.h"
#include "models/weights/pth/zip_directory.h"
#include "proca/core/error.h"

namespace proca::models {
namespace {

/// The folder that all files of the archive lie in; its name is free.
std::string find_folder(const ZipDirectory& zip, const std::string& origin) {
  std::string folder;
  for (const auto& [name, entry] : zip.entries()) {
    const auto slash = name.find('/');
    if (slash == std::string::npos || name.substr(slash) != "/data.pkl") continue;
    if (!folder.empty()) {
      throw InputError(fmt::format("{}: holds more than one data.pkl", origin));
    }
    folder = name.substr(0, slash + 1);
  }
  if (folder.empty()) {
    throw InputError(
        fmt::format("{}: is a zip archive, but not one of torch.save: it has no data.pkl", origin));
  }
  return folder;
}

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

WeightFile read_pth_zip(std::span<const uint8_t> file, const std::string& origin) {
  const ZipDirectory zip(file, origin);
  const auto folder = find_folder(zip, origin);
  if (zip.contains(folder + "constants.pkl")) {
    throw InputError(fmt::format("{}: is a TorchScript module, not a file of weights", origin));
  }
  // PyTorch 2.1 and later say so; earlier ones ran on little-endian machines only.
  if (zip.contains(folder + "byteorder") && text_of(zip.read(folder + "byteorder")) != "little") {
    throw InputError(fmt::format("{}: was written on a big-endian machine", origin));
  }
  const auto pickle = zip.read(folder + "data.pkl");
  const auto document = read_pickle(pickle, origin);
  if (document.size != pickle.size()) {
    throw InputError(fmt::format("{}: bad pickle: {} bytes follow its end", origin,
                                 pickle.size() - document.size));
  }
  return weights_of(
      document,
      [&](const PickledStorage& storage) {
        const auto content = zip.read(folder + "data/" + std::string(storage.key));
        const auto expected = checked_num_bytes(storage.num_elements, storage.dtype);
        if (static_cast<int64_t>(content.size()) != expected) {
          throw InputError(fmt::format("{}: storage {} has {} bytes, not the {} it should have",
                                       origin, printable(storage.key), content.size(), *expected));
        }
        return content;
      },
      origin);
}

}  // namespace proca::models

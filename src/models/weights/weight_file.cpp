#include "proca/models/weight_file.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "models/weights/pth/pth_reader.h"
#include "models/weights/safetensors.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca::models {
namespace {

using namespace std::string_view_literals;

constexpr auto kZipSignature = "PK\x03\x04"sv;
constexpr auto kTarSignature = "ustar"sv;
constexpr size_t kTarSignatureOffset = 257;
constexpr size_t kSafetensorsBraceOffset = 8;
constexpr char kPickleProtocol = '\x80';
constexpr auto kDataParallelPrefix = "module."sv;

// The beginnings cannot be confused. Read as the length of a safetensors
// header, a zip signature or a pickle's start may be any number, but neither
// format has a brace at byte 8: a zip has its compression method there, and
// torch.save's pickle a part of its magic number.
WeightFile read_any(const MappedFile& file) {
  const auto bytes = file.bytes();
  const auto origin = file.path().string();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kZipSignature)) return read_pth_zip(bytes, origin);
  if (text.size() > kSafetensorsBraceOffset && text[kSafetensorsBraceOffset] == '{') {
    return decode_safetensors(bytes, origin);
  }
  if (text.size() > kTarSignatureOffset &&
      text.substr(kTarSignatureOffset).starts_with(kTarSignature)) {
    throw InputError(fmt::format(
        "{}: is in the tar format of PyTorch before 0.1.10; load and save it again with torch",
        origin));
  }
  if (text.starts_with(kPickleProtocol)) return read_pth_stream(bytes, origin);
  throw InputError(
      fmt::format("{}: is neither a safetensors file nor one that torch.save wrote", origin));
}

// Only where it is on every name, as DataParallel leaves it: a network may have
// a part called `module`.
void strip_data_parallel_prefix(std::map<std::string, torch::Tensor>& tensors) {
  const bool everywhere = std::all_of(tensors.begin(), tensors.end(), [](const auto& item) {
    return item.first.starts_with(kDataParallelPrefix);
  });
  if (!everywhere) return;
  std::map<std::string, torch::Tensor> stripped;
  for (auto& [name, tensor] : tensors) {
    stripped.emplace(name.substr(kDataParallelPrefix.size()), std::move(tensor));
  }
  tensors = std::move(stripped);
}

}  // namespace

WeightFile read_weight_file(const std::filesystem::path& path) {
  auto file = read_any(MappedFile(path));
  if (file.tensors.empty()) {
    throw InputError(fmt::format("{}: holds no tensors", path.string()));
  }
  strip_data_parallel_prefix(file.tensors);
  return file;
}

}  // namespace proca::models

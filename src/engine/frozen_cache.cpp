#include "engine/frozen_cache.h"

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include "core/files/content_hash.h"
#include "models/weights/safetensors.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "question";
constexpr const char* kChecksum = "checksum";

// Of names, shapes and values: safetensors files have no checksum.
std::string checksum(const models::NamedTensors& tensors) {
  uint64_t hash = 0;
  for (const auto& [name, tensor] : tensors) {
    hash =
        content_hash(bytes_of(fmt::format("{} {} [{}]", name, torch::toString(tensor.scalar_type()),
                                          fmt::join(tensor.sizes(), ", "))),
                     hash);
    const auto values = tensor.contiguous();
    hash = content_hash({static_cast<const uint8_t*>(values.data_ptr()), values.nbytes()}, hash);
  }
  return fmt::format("{:016x}", hash);
}

std::optional<models::NamedTensors> read(const fs::path& path, const std::string& key) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    auto file = models::read_safetensors(path);
    if (file.metadata[kKey] != key) {
      throw InputError(fmt::format("{}: has another key", path.string()));
    }
    if (file.metadata[kChecksum] != checksum(file.tensors)) {
      throw InputError(fmt::format("{}: damaged: its checksum is another", path.string()));
    }
    return std::move(file.tensors);
  } catch (const Error& error) {
    log_warning(fmt::format("{}; computed again", error.what()));
    return std::nullopt;
  }
}

}  // namespace

fs::path FrozenCache::file_of(const std::string& key) const {
  return folder_ / fmt::format("{:016x}.safetensors", content_hash(bytes_of(key)));
}

void FrozenCache::keep(const std::string& key, const models::NamedTensors& tensors) const {
  try {
    create_writable_folder(folder_);
    models::write_safetensors(file_of(key), tensors, {{kKey, key}, {kChecksum, checksum(tensors)}});
  } catch (const Error& error) {
    // The run has the tensors; only the next one has to compute them again.
    log_warning(fmt::format("{}; they are not kept", error.what()));
  }
}

models::NamedTensors FrozenCache::get(const std::function<std::string()>& make_key,
                                      const std::function<models::NamedTensors()>& compute) const {
  if (folder_.empty()) return compute();
  const auto key = make_key();
  if (auto found = read(file_of(key), key)) return std::move(*found);
  auto tensors = compute();
  keep(key, tensors);
  return tensors;
}

}  // namespace proca::engine

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

constexpr const char* kQuestion = "question";
constexpr const char* kChecksum = "checksum";

// Of names, shapes and values: safetensors has none of its own.
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

std::optional<models::NamedTensors> read(const fs::path& path, const std::string& question) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    auto file = models::read_safetensors(path);
    if (file.metadata[kQuestion] != question) {
      throw InputError(fmt::format("{}: is about something else", path.string()));
    }
    if (file.metadata[kChecksum] != checksum(file.tensors)) {
      throw InputError(fmt::format("{}: damaged: its checksum is another", path.string()));
    }
    return std::move(file.tensors);
  } catch (const Error& error) {
    log_warning(fmt::format("{}; computed anew", error.what()));
    return std::nullopt;
  }
}

}  // namespace

fs::path FrozenCache::file_of(const std::string& question) const {
  return folder_ / fmt::format("{:016x}.safetensors", content_hash(bytes_of(question)));
}

void FrozenCache::keep(const std::string& question, const models::NamedTensors& answer) const {
  try {
    create_writable_folder(folder_);
    models::write_safetensors(file_of(question), answer,
                              {{kQuestion, question}, {kChecksum, checksum(answer)}});
  } catch (const Error& error) {
    // The run has what it needs; only the next one will have to compute it again.
    log_warning(fmt::format("{}; goes on without keeping it", error.what()));
  }
}

models::NamedTensors FrozenCache::answer(const std::string& question,
                                         const std::function<models::NamedTensors()>& compute) {
  if (!is_on()) return compute();
  if (auto found = read(file_of(question), question)) {
    ++num_found_;
    return std::move(*found);
  }
  auto answer = compute();
  keep(question, answer);
  return answer;
}

}  // namespace proca::engine

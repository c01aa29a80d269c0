#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "proca/models/named_tensors.h"

namespace proca::engine {

/// Outputs of a model that does not change, kept in a folder from run to run.
///
/// A key is a text that names everything the output depends on. The output is in
/// `DIGEST.safetensors`, together with the key and a checksum. A file that cannot be read, or
/// has another key, is named in a warning and replaced. Several processes may use the folder
/// at once; nothing in it is ever deleted.
class FrozenCache {
 public:
  /// An empty path: nothing is kept.
  explicit FrozenCache(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  /// The tensors from the folder, or those of `compute`, which are then kept. They should be
  /// on the CPU. `make_key` is called only if there is a folder. One that cannot be written
  /// costs a warning.
  models::NamedTensors get(const std::function<std::string()>& make_key,
                           const std::function<models::NamedTensors()>& compute) const;

  std::filesystem::path file_of(const std::string& key) const;

 private:
  void keep(const std::string& key, const models::NamedTensors& tensors) const;

  std::filesystem::path folder_;
};

}  // namespace proca::engine

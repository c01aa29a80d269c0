#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "proca/models/named_tensors.h"

namespace proca::engine {

/// Answers of a model that does not change, kept in a folder from run to run: what many
/// runs on the same images would each ask again.
///
/// A question is a text that names everything the answer depends on. Its answer is in
/// `DIGEST.safetensors`, together with the question and a checksum. A file that cannot
/// be read, or is about something else, is named in a warning and made anew. Several
/// processes may use the folder at once; nobody tidies it up.
class FrozenCache {
 public:
  /// An empty path: nothing is kept.
  explicit FrozenCache(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  bool is_on() const { return !folder_.empty(); }
  /// The answer from the folder, or what `compute` gives, which is then kept. Tensors of
  /// an answer should be on the CPU. A folder that cannot be written costs a warning.
  models::NamedTensors answer(const std::string& question,
                              const std::function<models::NamedTensors()>& compute);

  /// How often there was no need to compute.
  int64_t num_found() const { return num_found_; }
  std::filesystem::path file_of(const std::string& question) const;

 private:
  void keep(const std::string& question, const models::NamedTensors& answer) const;

  std::filesystem::path folder_;
  int64_t num_found_ = 0;
};

}  // namespace proca::engine

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "proca/data/image_source.h"

namespace proca::report {

/// Images of a run, found by the names that its records have. A report shows them as far as they
/// are still where the run found them, so what is missing or broken is no error here.
class ImageSet {
 public:
  /// Nothing if they cannot be opened any more.
  static std::optional<ImageSet> open(const std::filesystem::path& path,
                                      const data::OpenOptions& options);
  /// Single files, each by its path, without labels; those that are gone are left out. Nothing if
  /// none is left.
  static std::optional<ImageSet> of_files(const std::vector<std::string>& paths);

  const data::ImageListing& listing() const { return source_->listing(); }
  /// Index in the listing of the image of this name; nothing if there is none.
  std::optional<int64_t> find(const std::string& name) const;
  /// `thumbnail_url` of an image; empty if it cannot be read. Safe to call from several threads.
  std::string thumbnail(int64_t index) const;

 private:
  explicit ImageSet(std::unique_ptr<data::ImageSource> source);

  std::unique_ptr<data::ImageSource> source_;
  std::unordered_map<std::string, int64_t> index_of_name_;
};

}  // namespace proca::report

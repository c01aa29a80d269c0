#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proca/config/options.h"
#include "proca/data/image_store.h"

namespace proca::engine {

/// What decides a result: the options that are declared to, and what the images are. Two runs
/// with equal identities give the same result; a run that was cut off goes on only with an
/// equal one. The state keeps it as text.
struct RunIdentity {
  struct Field {
    std::string table;  ///< TOML table of an option; `kNote` for what is no option
    std::string name;
    std::string value;  ///< as TOML

    bool operator==(const Field&) const = default;
  };
  static constexpr const char* kNote = "#";

  std::vector<Field> fields;

  /// Adds those options of the set's top level that decide, as keys of `table`.
  void add(const OptionSet& options, const std::string& table = "");
  void add_note(std::string name, std::string value) {
    fields.push_back({kNote, std::move(name), std::move(value)});
  }

  /// Null if there is no such field.
  const Field* find(std::string_view table, std::string_view name) const;

  /// A TOML document; notes are comments, `# images: 12 in 3 classes`.
  std::string text() const;
  static RunIdentity parse(std::string_view text);

  bool operator==(const RunIdentity&) const = default;
};

/// The note that says what the images are.
inline constexpr const char* kImagesNote = "images";

/// With the paths among `options` as `absolute_path` writes them: two spellings of a place are
/// equal.
RunIdentity with_absolute_paths(RunIdentity identity, const OptionSet& options);

/// Number, names and classes of the images: quickly known, but not what is in them.
std::string describe_images(const data::ImageListing& listing);
/// Number and names of the images, and a hash over all pixels.
std::string describe_images(const data::ImageStore& store, int64_t threads);

/// Sizes and times of the files that hold the images, as a checksum; empty if one of them cannot
/// be looked at.
std::string describe_files(const data::ImageListing& listing);

/// A hash of the pixels of all images, in order.
uint64_t hash_pixels(const data::ImageStore& store, int64_t threads);

/// Throws an `InputError` that names the first field in which the two differ: `where` holds
/// `what`, which is theirs; `advice` is what to do.
[[noreturn]] void refuse_other_identity(const std::string& where, const std::string& what,
                                        const RunIdentity& theirs, const RunIdentity& mine,
                                        const std::string& advice);

}  // namespace proca::engine

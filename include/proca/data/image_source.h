#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "proca/data/image.h"

namespace proca::data {

/// The label of an image that has none.
inline constexpr int64_t kNoLabel = -1;

/// One image of a data set.
struct Sample {
  std::string path;          ///< the file's path as it was found or listed; its name in messages
  int64_t label = kNoLabel;  ///< index into `ImageListing::class_names`
};

/// What identifies a class across data sets.
enum class LabelMeaning {
  kName,    ///< the class's name: class folders
  kNumber,  ///< the label itself: list files
};

/// What a data set contains, without any pixels.
struct ImageListing {
  std::string origin;  ///< the path the user gave, for messages
  std::vector<Sample> samples;
  /// By label. Empty when the images are unlabelled. Labels of a list file
  /// need not all occur; a class without images still has its name here.
  std::vector<std::string> class_names;
  LabelMeaning label_meaning = LabelMeaning::kName;

  bool labelled() const { return !class_names.empty(); }
  int64_t size() const { return static_cast<int64_t>(samples.size()); }
  int64_t num_classes() const { return static_cast<int64_t>(class_names.size()); }
  /// Number of images by label.
  std::vector<int64_t> count_per_class() const;
};

/// A set of images: its listing, and the pixels on demand.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  const ImageListing& listing() const { return listing_; }
  /// Decodes one image at its own size. Safe to call from several threads.
  /// Throws `InputError` naming the file when it is broken.
  virtual Image read(int64_t index) const = 0;
  /// The bytes of the image's file. Throws `InputError` for images that are stored
  /// as pixels.
  virtual std::vector<uint8_t> read_encoded(int64_t index) const = 0;
  /// Whether `read` only copies, so that a cache would not help.
  virtual bool is_in_memory() const { return false; }

 protected:
  ImageListing listing_;
};

/// What the caller needs of the labels.
enum class Labels {
  kRequired,  ///< an unlabelled source is an error
  kOptional,  ///< used if there
  kIgnored,   ///< class folders and label columns are not read as labels
};

struct OpenOptions {
  Labels labels = Labels::kOptional;
  /// Folder that the paths of a list file are relative to; empty for the
  /// folder of the list file itself.
  std::filesystem::path root = {};
  /// The classes of a model; empty for no restriction. Class folders are matched
  /// to them by name, since a data set with only some of the classes would
  /// otherwise be numbered wrongly; labels of a list file are matched by number.
  std::vector<std::string> known_classes = {};
};

/// Opens images wherever the program takes a `PATH`:
///
/// | what it is | labels |
/// |---|---|
/// | a folder of folders of images | one class per folder, in alphabetical order |
/// | a folder of images | none |
/// | one image file | none |
/// | a list file (any other text file) | `path label` or `path` per line |
/// | a packed file (`proca data pack`) | as packed |
///
/// Images are files ending in .jpg, .jpeg, .png or .webp, in any case; other
/// files and names that begin with a dot are ignored. Folders are read in byte
/// order of the names, so that the order is the same on every computer.
///
/// In a list file the last word of a line is the label if it is a whole number
/// and not the only word; the path may contain spaces. Either every line has a
/// label or none. Labels are named after the folders of their images if each
/// label has one folder and no two have the same; otherwise all are named by
/// their numbers, as are labels that do not occur.
///
/// Throws `InputError` (with `file:line` for list files) when the path is
/// missing, holds no image, mixes images and folders, names a missing file,
/// or has labels outside of `known_classes`.
std::unique_ptr<ImageSource> open_images(const std::filesystem::path& path,
                                         const OpenOptions& options = {});

/// Several paths as one unlabelled source, in the order given.
std::unique_ptr<ImageSource> open_images(const std::vector<std::string>& paths,
                                         const OpenOptions& options);

}  // namespace proca::data

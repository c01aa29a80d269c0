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

/// A class that the model does not know, and its images.
struct UnknownClass {
  std::string name;
  int64_t num_images = 0;
};

/// What a data set contains, without any pixels.
struct ImageListing {
  std::string origin;  ///< the path the user gave, for messages
  std::vector<Sample> samples;
  /// By label. Empty when the images are unlabelled. Labels of a list file
  /// need not all occur; a class without images still has its name here.
  std::vector<std::string> class_names;
  LabelMeaning label_meaning = LabelMeaning::kName;
  /// Pictures and videos of kinds that cannot be decoded (HEIC, AVIF, SVG, ...), found beside the
  /// images. They are no part of the data set.
  std::vector<std::string> unsupported = {};
  /// Classes that were left out (`UnknownClasses::kLeaveOut`).
  std::vector<UnknownClass> unknown_classes = {};

  bool labelled() const { return !class_names.empty(); }
  int64_t size() const { return static_cast<int64_t>(samples.size()); }
  int64_t num_classes() const { return static_cast<int64_t>(class_names.size()); }
  /// Number of images by label.
  std::vector<int64_t> count_per_class() const;
};

/// "3 files of kinds that are not supported (2 HEIC, 1 video), such as a/b.heic". Some must be
/// there.
std::string describe_unsupported(const ImageListing& listing);

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

/// What to do with class folders that are not among the known classes.
enum class UnknownClasses {
  kRefuse,    ///< `InputError` that names the nearest known one
  kLeaveOut,  ///< without their images, and remember them; an error only if no class is known
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
  UnknownClasses unknown_classes = UnknownClasses::kRefuse;
};

/// Opens images wherever the program takes a `PATH`:
///
/// | what it is | labels |
/// |---|---|
/// | a folder of folders of images | one class per folder, in alphabetical order |
/// | a folder of images | none |
/// | one image file | none |
/// | a list file (any other text file) | `path label`, `path,label` or `path` per line |
/// | a packed file (`proca data pack`) | as packed |
///
/// Images are files ending in .jpg, .jpeg, .png, .webp, .tif, .tiff, .gif or .bmp, in any
/// case; other files and names that begin with a dot are ignored, but pictures of other kinds
/// are counted, with a warning. Folders are read in byte order of the names, so that the order
/// is the same on every computer. Where labels are ignored, all images below a folder are
/// taken, however it is arranged.
///
/// In a list file the last word of a line is the label if it is a whole number and not the only
/// word; the path may contain spaces. Behind a path that ends as images do, and a blank, tab or
/// comma, the label may also be the name of a class. Either every line has a label or none, and
/// all are numbers or all are names. A first line that names the columns (`path,label`) is passed
/// over. Numbers are named after the folders of their images if each has one folder and no two
/// have the same; otherwise all are named by their numbers, as are labels that do not occur.
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

#include "data/source/list_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "data/source/file_kinds.h"
#include "proca/core/error.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// A label is a number or the name of a class; without either, the line is a path.
struct Line {
  std::string_view path;
  std::optional<int64_t> label;
  std::string_view name;

  bool labelled() const { return label.has_value() || !name.empty(); }
};

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

Line with_number(std::string_view path, std::string_view word, const std::string& where,
                 const ListLimits& limits) {
  int64_t label = 0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), label);
  if (result.ec != std::errc{} || label < 0 || label > limits.max_label) {
    throw InputError(
        fmt::format("{}: label {} is not between 0 and {}", where, word, limits.max_label));
  }
  return {without_quotes(trim(path)), label, {}};
}

// Where the path ends of a line such as `my cat.jpg,tabby cat`: at the first separator behind an
// image's extension.
Line with_name(std::string_view text) {
  constexpr std::string_view kSeparators = " \t,";
  for (auto at = text.find_first_of(kSeparators); at != std::string_view::npos;
       at = text.find_first_of(kSeparators, at + 1)) {
    const auto path = without_quotes(text.substr(0, at));
    if (!has_image_extension(fs::path(path))) continue;
    auto name = trim(text.substr(at + 1));
    if (text[at] != ',' && name.starts_with(',')) name = trim(name.substr(1));
    return {path, std::nullopt, without_quotes(name)};
  }
  return {without_quotes(text), std::nullopt, {}};
}

// Not only digits, signs and separators.
bool has_letters(std::string_view name) {
  return name.find_first_not_of("0123456789+-.,\" \t") != std::string_view::npos;
}

Line split_line(std::string_view text, const std::string& where, const ListLimits& limits) {
  const auto space = text.find_last_of(" \t,");
  if (space == std::string_view::npos || has_image_extension(fs::path(text))) {
    return {without_quotes(text), std::nullopt, {}};
  }
  const auto word = text.substr(space + 1);
  // "-1" is meant as a label too, and refused as one.
  const auto digits = word.starts_with('-') ? word.substr(1) : word;
  const auto named = with_name(text);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return named;
  }
  auto path = trim(text.substr(0, space));
  if (path.ends_with(',')) path.remove_suffix(1);
  // In `cat.png,class 1` the number is the end of a name.
  const bool is_image = has_image_extension(fs::path(without_quotes(trim(path))));
  if (!is_image && has_letters(named.name)) return named;
  return with_number(path, word, where, limits);
}

// `path,label`, which tables have in front.
bool names_columns(std::string_view line) {
  constexpr std::array<std::string_view, 6> kPath = {"path",  "file", "filename",
                                                     "image", "name", "image_path"};
  constexpr std::array<std::string_view, 5> kLabel = {"label", "class", "category", "target",
                                                      "class_name"};
  const auto comma = line.find_first_of(",\t");
  const auto is_one_of = [](const auto& words, std::string_view word) {
    return std::find(words.begin(), words.end(), without_quotes(trim(word))) != words.end();
  };
  if (comma == std::string_view::npos) return false;
  return is_one_of(kPath, line.substr(0, comma)) && is_one_of(kLabel, line.substr(comma + 1));
}

// Refuses the paths that would be read back as something else.
void check_readable(const std::string& path, int64_t label) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(
        fmt::format("{}: cannot stand in a list file: rename it, without {}", path, what));
  };
  if (label == kNoLabel && split_line(path, path, {}).label.has_value()) {
    refuse("the number at its end");
  }
  if (trim(path) != path || path.find('\n') != std::string::npos) {
    refuse("line breaks and blanks at its ends");
  }
  if (path.starts_with(kByteOrderMark)) refuse("the byte order mark at its beginning");
  const auto line = label == kNoLabel ? path : path + " 0";
  if (names_columns(line)) refuse("its likeness to the names of columns");
  if (split_line(line, path, {}).path != path) refuse("what looks like a label or quotes in it");
}

// Folder names serve as class names only if they tell the classes apart.
std::vector<std::string> name_classes(const std::vector<Sample>& samples) {
  int64_t num_classes = 0;
  for (const auto& sample : samples) num_classes = std::max(num_classes, sample.label + 1);
  std::map<int64_t, std::string> folder_of_label;
  bool usable = true;
  for (const auto& sample : samples) {
    const auto folder = fs::path(sample.path).parent_path().filename().string();
    const auto [entry, added] = folder_of_label.emplace(sample.label, folder);
    usable = usable && !folder.empty() && (added || entry->second == folder);
  }
  std::set<std::string> distinct;
  for (const auto& [label, folder] : folder_of_label)
    usable = usable && distinct.insert(folder).second;

  // A label that does not occur is named by its number, which may be another one's folder.
  std::vector<std::string> names;
  for (int64_t label = 0; label < num_classes && usable; ++label) {
    const auto folder = folder_of_label.find(label);
    const bool occurs = folder != folder_of_label.end();
    names.push_back(occurs ? folder->second : std::to_string(label));
    usable = occurs || !distinct.contains(names.back());
  }
  if (usable) return names;
  names.clear();
  for (int64_t label = 0; label < num_classes; ++label) names.push_back(std::to_string(label));
  return names;
}

}  // namespace

namespace {

// Reads the lines one by one into a list.
class ListReader {
 public:
  ListReader(const std::string& origin, const fs::path& root, const ListLimits& limits)
      : origin_(origin), root_(root), limits_(limits) {
    list_.listing.origin = origin;
  }

  void read(std::string_view text) {
    ++number_;
    if (text.empty()) return;
    const auto where = fmt::format("{}:{}", origin_, number_);
    if (static_cast<int64_t>(text.size()) > limits_.max_line_bytes) {
      throw InputError(fmt::format("{}: has {} bytes; a line may have {}", where, text.size(),
                                   limits_.max_line_bytes));
    }
    if (text.find('\0') != std::string_view::npos) {
      throw InputError(where + ": is not text; expected one image path per line");
    }
    if (samples().empty() && names_columns(text)) return;
    const auto line = split_line(text, where, limits_);
    check_kind(line, where);
    if (static_cast<int64_t>(samples().size()) == limits_.max_images) {
      throw InputError(
          fmt::format("{}: is one image too many; a list may have {}", where, limits_.max_images));
    }
    samples().push_back(
        {(root_ / fs::path(line.path)).lexically_normal().string(), line.label.value_or(kNoLabel)});
    if (!line.name.empty()) names_.emplace_back(line.name);
    list_.line_numbers.push_back(number_);
  }

  ListFile finish() {
    if (samples().empty()) throw InputError(fmt::format("{}: lists no image", origin_));
    auto& listing = list_.listing;
    listing.label_meaning = LabelMeaning::kNumber;
    if (!names_.empty()) {
      number_names();
    } else if (samples().front().label != kNoLabel) {
      listing.class_names = name_classes(samples());
    }
    return std::move(list_);
  }

 private:
  std::vector<Sample>& samples() { return list_.listing.samples; }

  // All lines are of the kind of the first one.
  void check_kind(const Line& line, const std::string& where) {
    if (samples().empty()) first_ = {line.labelled(), !line.name.empty()};
    if (line.labelled() != first_.labelled) {
      throw InputError(fmt::format("{}: has {} label although the first line has {}", where,
                                   first_.labelled ? "no" : "a", first_.labelled ? "one" : "none"));
    }
    if (!line.name.empty() != first_.named) {
      throw InputError(fmt::format("{}: has a {} as label although the first line has a {}", where,
                                   first_.named ? "number" : "name",
                                   first_.named ? "name" : "number"));
    }
  }

  // In alphabetical order, as class folders.
  void number_names() {
    std::map<std::string, int64_t> label_of;
    for (const auto& name : names_) label_of.emplace(name, 0);
    if (static_cast<int64_t>(label_of.size()) > limits_.max_names) {
      throw InputError(fmt::format("{}: has {} classes; a list may have {}", origin_,
                                   label_of.size(), limits_.max_names));
    }
    auto& listing = list_.listing;
    listing.label_meaning = LabelMeaning::kName;
    for (auto& [name, label] : label_of) {
      label = listing.num_classes();
      listing.class_names.push_back(name);
    }
    for (size_t i = 0; i < names_.size(); ++i) listing.samples[i].label = label_of.at(names_[i]);
  }

  struct Kind {
    bool labelled = false, named = false;
  };

  const std::string& origin_;
  const fs::path& root_;
  const ListLimits& limits_;
  ListFile list_;
  std::vector<std::string> names_;  // of the classes, by image
  Kind first_;
  int64_t number_ = 0;  // of the line
};

}  // namespace

ListFile parse_list_file(std::string_view text, const std::string& origin, const fs::path& root,
                         const ListLimits& limits) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ListReader reader(origin, root, limits);
  while (!text.empty()) {
    const auto end = text.find('\n');
    reader.read(trim(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return reader.finish();
}

std::string format_list_file(const ImageListing& listing, const fs::path& root) {
  std::string text;
  for (const auto& sample : listing.samples) {
    const fs::path path(sample.path);
    const auto relative = path.lexically_relative(root);
    // As it is, a relative path would be read as one below the root.
    const bool below = !relative.empty() && *relative.begin() != "..";
    auto line =
        below || (path.is_relative() && !relative.empty()) ? relative.string() : sample.path;
    check_readable(line, sample.label);
    if (sample.label != kNoLabel) line += fmt::format(" {}", sample.label);
    text += line + '\n';
  }
  return text;
}

}  // namespace proca::data

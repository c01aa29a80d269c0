#include "data/source/list_file.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

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

struct Line {
  std::string_view path;
  std::optional<int64_t> label;
};

Line split_line(std::string_view text, const std::string& where, const ListLimits& limits) {
  const auto space = text.find_last_of(" \t");
  if (space == std::string_view::npos) return {text, std::nullopt};
  const auto word = text.substr(space + 1);
  // "-1" is meant as a label too, and refused as one.
  const auto digits = word.starts_with('-') ? word.substr(1) : word;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return {text, std::nullopt};
  }
  int64_t label = 0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), label);
  if (result.ec != std::errc{} || label < 0 || label > limits.max_label) {
    throw InputError(
        fmt::format("{}: label {} is not between 0 and {}", where, word, limits.max_label));
  }
  return {trim(text.substr(0, space)), label};
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

ListFile parse_list_file(std::string_view text, const std::string& origin, const fs::path& root,
                         const ListLimits& limits) {
  ListFile list;
  list.listing.origin = origin;
  auto& samples = list.listing.samples;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  bool labelled = false;
  int64_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (line.empty()) continue;
    const auto where = fmt::format("{}:{}", origin, number);
    if (static_cast<int64_t>(line.size()) > limits.max_line_bytes) {
      throw InputError(fmt::format("{}: has {} bytes; a line may have {}", where, line.size(),
                                   limits.max_line_bytes));
    }
    if (line.find('\0') != std::string_view::npos) {
      throw InputError(where + ": is not text; expected one image path per line");
    }
    const auto [path, label] = split_line(line, where, limits);
    if (samples.empty()) labelled = label.has_value();
    if (labelled != label.has_value()) {
      throw InputError(fmt::format("{}: has {} label although the first line has {}", where,
                                   labelled ? "no" : "a", labelled ? "one" : "none"));
    }
    if (static_cast<int64_t>(samples.size()) == limits.max_images) {
      throw InputError(
          fmt::format("{}: is one image too many; a list may have {}", where, limits.max_images));
    }
    samples.push_back(
        {(root / fs::path(path)).lexically_normal().string(), label.value_or(kNoLabel)});
    list.line_numbers.push_back(number);
  }
  if (samples.empty()) throw InputError(fmt::format("{}: lists no image", origin));
  list.listing.label_meaning = LabelMeaning::kNumber;
  if (labelled) list.listing.class_names = name_classes(samples);
  return list;
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

#include "engine/run_identity.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "config/toml.h"
#include "core/files/content_hash.h"
#include "core/files/path.h"
#include "core/parallel.h"
#include "data/source/packed_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"

namespace proca::engine {
namespace {

std::string file_name(const data::Sample& sample) {
  return std::filesystem::path(sample.path).filename().string();
}

std::string shown(const RunIdentity::Field& field) {
  const bool is_note = field.table == RunIdentity::kNote;
  return is_note ? field.value : fmt::format("{} = {}", field.name, field.value);
}

}  // namespace

void RunIdentity::add(const OptionSet& options, const std::string& table) {
  for (const auto& option : options.options()) {
    if (!option.decides || !option.section.empty()) continue;
    auto value = option.toml();
    if (!option.unmentioned.empty() && value == option.unmentioned) continue;
    if (!value.empty()) fields.push_back({table, option.name, std::move(value)});
  }
}

const RunIdentity::Field* RunIdentity::find(std::string_view table, std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) {
    return field.table == table && field.name == name;
  });
  return found == fields.end() ? nullptr : &*found;
}

std::string RunIdentity::text() const {
  std::string text, table;
  for (const auto& field : fields) {
    if (field.table == kNote) {
      text += fmt::format("# {}: {}\n", field.name, field.value);
      continue;
    }
    if (field.table != table) text += fmt::format("\n[{}]\n", field.table);
    table = field.table;
    text += fmt::format("{} = {}\n", field.name, field.value);
  }
  return text;
}

// Only what text() writes, and the program's earlier versions: a line per field.
RunIdentity RunIdentity::parse(std::string_view text) {
  RunIdentity identity;
  std::istringstream lines{std::string(text)};
  std::string line, table;
  while (std::getline(lines, line)) {
    const bool is_note = line.starts_with("# ");
    const std::string_view between = is_note ? ": " : " = ";
    const auto end = line.find(between);
    if (line.starts_with('[') && line.ends_with(']')) {
      table = line.substr(1, line.size() - 2);
    } else if (end != std::string::npos && !line.starts_with("# crc32")) {
      const size_t begin = is_note ? 2 : 0;
      identity.fields.push_back({is_note ? kNote : table, line.substr(begin, end - begin),
                                 line.substr(end + between.size())});
    }
  }
  return identity;
}

RunIdentity with_absolute_paths(RunIdentity identity, const OptionSet& options) {
  for (auto& field : identity.fields) {
    const auto* option = field.table.empty() ? options.find(field.name) : nullptr;
    const bool is_path = option != nullptr && (option->type == "DIR" || option->type == "FILE" ||
                                               option->type == "PATH");
    if (!is_path) continue;
    for (const auto& entry : parse_toml("path = " + field.value, field.name)) {
      if (entry.values.size() != 1 || entry.values.front().empty()) continue;
      field.value = toml_string(absolute_path(entry.values.front()).string());
    }
  }
  return identity;
}

std::string describe_images(const data::ImageListing& listing) {
  uint32_t crc = 0;
  for (const auto& name : listing.class_names) crc = crc32(bytes_of(name + "\n"), crc);
  for (const auto& sample : listing.samples) {
    crc = crc32(bytes_of(fmt::format("{} {}\n", file_name(sample), sample.label)), crc);
  }
  return fmt::format("{} in {} classes, names {:08x}", listing.size(), listing.num_classes(), crc);
}

std::string describe_images(const data::ImageStore& store, int64_t threads) {
  uint32_t crc = 0;
  for (int64_t i = 0; i < store.size(); ++i) {
    crc = crc32(bytes_of(file_name(store.sample(i)) + "\n"), crc);
  }
  return fmt::format("{}, names {:08x}, pixels {:016x}", store.size(), crc,
                     hash_pixels(store, threads));
}

std::string describe_files(const data::ImageListing& listing) {
  uint32_t crc = 0;
  const auto add = [&](const std::string& path) {
    std::error_code size_error, time_error;
    const auto size = std::filesystem::file_size(path, size_error);
    const auto time = std::filesystem::last_write_time(path, time_error);
    const auto count = static_cast<int64_t>(time.time_since_epoch().count());
    crc = crc32(bytes_of(fmt::format("{} {}\n", size, count)), crc);
    return !size_error && !time_error;
  };
  if (data::is_packed_file(listing.origin)) {
    return add(listing.origin) ? fmt::format("{:08x}", crc) : "";
  }
  for (const auto& sample : listing.samples) {
    if (!add(sample.path)) return "";
  }
  return fmt::format("{:08x}", crc);
}

uint64_t hash_pixels(const data::ImageStore& store, int64_t threads) {
  std::vector<uint64_t> hashes(static_cast<size_t>(store.size()));
  parallel_for(store.size(), threads, [&](int64_t i) {
    throw_if_interrupted("stopped while comparing images");
    data::Image scratch;
    const auto view = store.load(i, scratch);
    uint64_t hash = static_cast<uint64_t>(view.height);
    for (int64_t y = 0; y < view.height; ++y) {
      hash = content_hash({view.row(y), static_cast<size_t>(view.width * data::Image::kChannels)},
                          hash);
    }
    hashes[static_cast<size_t>(i)] = hash;
  });
  return content_hash({reinterpret_cast<const uint8_t*>(hashes.data()), hashes.size() * 8});
}

void refuse_other_identity(const std::string& where, const std::string& what,
                           const RunIdentity& theirs, const RunIdentity& mine,
                           const std::string& advice) {
  const auto refuse = [&](const RunIdentity::Field& field, const std::string& there,
                          const std::string& here) {
    throw InputError(fmt::format("{}: {} with other {}: {} there, {} here; {}", where, what,
                                 field.table == RunIdentity::kNote ? field.name : "options", there,
                                 here, advice));
  };
  for (const auto& field : mine.fields) {
    const auto* other = theirs.find(field.table, field.name);
    if (other == nullptr) refuse(field, "no " + field.name, shown(field));
    if (other->value != field.value) refuse(field, shown(*other), shown(field));
  }
  for (const auto& field : theirs.fields) {
    if (mine.find(field.table, field.name) == nullptr) {
      refuse(field, shown(field), "no " + field.name);
    }
  }
  throw InputError(fmt::format("{}: {} with other options; {}", where, what, advice));
}

}  // namespace proca::engine

#include "engine/run_config.h"

#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/files/content_hash.h"
#include "core/parallel.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca::engine {

std::string deciding_options(const OptionSet& options) {
  static const std::set<std::string> indifferent = {
      "device",    "threads",          "graph",        "winograd",    "cache-ram",
      "cache-gpu", "checkpoint-every", "frozen-cache", "tensorboard", "rank-timeout"};
  std::istringstream lines(options.to_toml());
  std::string line, text;
  while (std::getline(lines, line)) {
    if (!indifferent.contains(line.substr(0, line.find(' ')))) text += line + "\n";
  }
  return text;
}

std::string digest(const std::string& text) { return fmt::format("{:08x}", crc32(bytes_of(text))); }

std::string describe_images(const data::ImageListing& listing) {
  uint32_t crc = 0;
  for (const auto& name : listing.class_names) crc = crc32(bytes_of(name + "\n"), crc);
  for (const auto& sample : listing.samples) {
    const auto name = std::filesystem::path(sample.path).filename().string();
    crc = crc32(bytes_of(fmt::format("{} {}\n", name, sample.label)), crc);
  }
  return fmt::format("# images: {} in {} classes, names {:08x}\n", listing.size(),
                     listing.num_classes(), crc);
}

std::string describe_content(const data::ImageStore& store) {
  // Today's folder may have yesterday's name and file names: only pixels tell them apart.
  constexpr int64_t kLookedAt = 256;
  const int64_t stride = std::max<int64_t>(1, store.size() / kLookedAt);
  struct Pixels {
    uint32_t crc = 0;
    int64_t bytes = 0;
  };
  std::vector<Pixels> looked_at(static_cast<size_t>((store.size() + stride - 1) / stride));
  parallel_for(static_cast<int64_t>(looked_at.size()), available_cores(), [&](int64_t i) {
    data::Image scratch;
    const auto view = store.load(i * stride, scratch);
    const int64_t row_bytes = view.width * data::Image::kChannels;
    auto& pixels = looked_at[static_cast<size_t>(i)];
    for (int64_t y = 0; y < view.height; ++y) {
      pixels.crc = crc32({view.row(y), static_cast<size_t>(row_bytes)}, pixels.crc);
    }
    pixels.bytes = view.height * row_bytes;
  });
  uint32_t crc = 0;
  for (int64_t i = 0; i < store.size(); ++i) {
    const auto name = std::filesystem::path(store.sample(i).path).filename().string();
    crc = crc32(bytes_of(name + "\n"), crc);
    if (i % stride != 0) continue;
    const auto& pixels = looked_at[static_cast<size_t>(i / stride)];
    crc = crc32_joined(crc, pixels.crc, pixels.bytes);
  }
  return fmt::format("# images: {}, content {:08x}\n", store.size(), crc);
}

uint64_t hash_pixels(const data::ImageStore& store, int64_t threads) {
  std::vector<uint64_t> hashes(static_cast<size_t>(store.size()));
  parallel_for(store.size(), threads, [&](int64_t i) {
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

void refuse_other_options(const std::string& where, const std::string& what,
                          const std::string& theirs, const std::string& mine,
                          const std::string& advice) {
  std::istringstream my_lines(mine), their_lines(theirs);
  std::string my_line, their_line;
  while (std::getline(my_lines, my_line) && std::getline(their_lines, their_line)) {
    if (my_line == their_line) continue;
    throw InputError(fmt::format("{}: {} with other options: {} there, {} here; {}", where, what,
                                 their_line, my_line, advice));
  }
  throw InputError(fmt::format("{}: {} with other options; {}", where, what, advice));
}

std::string with_meaning(std::string pattern, const std::string& word, const std::string& meaning) {
  for (auto at = pattern.find(word); at != pattern.npos;
       at = pattern.find(word, at + meaning.size())) {
    pattern.replace(at, word.size(), meaning);
  }
  return pattern;
}

}  // namespace proca::engine

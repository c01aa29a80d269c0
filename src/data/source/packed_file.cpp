#include "data/source/packed_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/files/json_limits.h"
#include "core/files/open_file.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "data/pixels/resize.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "proca/data/decode.h"

namespace proca::data {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "packed files are little-endian");

constexpr std::array<char, 8> kMagic = {'P', 'R', 'O', 'C', 'A', 'P', 'A', 'K'};
constexpr uint32_t kVersion = 1;
constexpr int64_t kDataOffset = 4096;  // so that image data begins at a page
constexpr int64_t kImagesPerRound = 256;

// docs/formats/packed_file.md describes both structs byte by byte.
struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t reserved;
  uint64_t num_images;
  uint64_t index_offset;
  uint64_t text_offset;
  uint64_t text_size;
  uint32_t index_crc;
  uint32_t text_crc;
  uint32_t padding;
  uint32_t header_crc;  // of the bytes before it
};
static_assert(sizeof(Header) == 64);

struct IndexEntry {
  uint64_t offset;
  uint64_t size;
  uint32_t width;  // of the pixels; 0 for encoded images
  uint32_t height;
  uint32_t encoding;
  uint32_t crc;
  int64_t label;
};
static_assert(sizeof(IndexEntry) == 40);

template <typename T>
std::span<const uint8_t> raw_bytes(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(T)};
}

class PackedReader final : public PackedImages {
 public:
  PackedReader(const fs::path& path, const PackedLimits& limits) : file_(path), limits_(limits) {
    read_header();
    read_index();
    read_text();
  }

  void relabel(ImageListing listing) override { listing_ = std::move(listing); }

  Image read(int64_t index) const override {
    const auto& entry = entries_[static_cast<size_t>(index)];
    const auto bytes = checked_bytes(index);
    if (entry.encoding == static_cast<uint32_t>(PackedEncoding::kEncoded)) {
      return decode_image(bytes, name(index));
    }
    return {.width = entry.width, .height = entry.height, .pixels = {bytes.begin(), bytes.end()}};
  }

  std::vector<uint8_t> read_encoded(int64_t index) const override {
    if (entries_[static_cast<size_t>(index)].encoding !=
        static_cast<uint32_t>(PackedEncoding::kEncoded)) {
      throw InputError(fmt::format("{}: holds pixels, not image files", name(index)));
    }
    const auto bytes = checked_bytes(index);
    return {bytes.begin(), bytes.end()};
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(fmt::format("{}: damaged packed file: {}", file_.path().string(), what));
  }

  void check_limit(std::string_view what, uint64_t count, int64_t limit) const {
    if (count <= static_cast<uint64_t>(limit)) return;
    throw InputError(
        fmt::format("{}: holds {} {}; {} are allowed", file_.path().string(), count, what, limit));
  }

  std::string name(int64_t index) const {
    return fmt::format("{}, image {} ({})", file_.path().string(), index,
                       listing_.samples[static_cast<size_t>(index)].path);
  }

  // A part of the file, or an error if the file is too short for it.
  std::span<const uint8_t> part(uint64_t offset, uint64_t size, std::string_view what) const {
    const uint64_t available = file_.bytes().size();
    if (offset > available || size > available - offset) {
      fail(fmt::format("the {} does not fit into its {} bytes", what, available));
    }
    return file_.bytes().subspan(offset, size);
  }

  std::span<const uint8_t> checked_bytes(int64_t index) const {
    const auto& entry = entries_[static_cast<size_t>(index)];
    const auto bytes = part(entry.offset, entry.size, "image");
    if (crc32(bytes) != entry.crc) {
      throw InputError(fmt::format("{}: checksum does not match", name(index)));
    }
    return bytes;
  }

  void read_header() {
    std::memcpy(&header_, part(0, sizeof header_, "header").data(), sizeof header_);
    if (header_.magic != kMagic) {
      throw InputError(fmt::format("{}: is not a packed file", file_.path().string()));
    }
    if (header_.version != kVersion) {
      throw InputError(fmt::format("{}: packed file of version {}; this program reads version {}",
                                   file_.path().string(), header_.version, kVersion));
    }
    if (crc32(raw_bytes(header_).first(offsetof(Header, header_crc))) != header_.header_crc) {
      fail("the header's checksum does not match");
    }
    const auto gap = part(0, kDataOffset, "header").subspan(sizeof header_);
    if (std::any_of(gap.begin(), gap.end(), [](uint8_t byte) { return byte != 0; })) {
      fail("the bytes between header and images are not zero");
    }
  }

  void read_index() {
    if (header_.num_images == 0) fail("it holds no image");
    if (header_.num_images > file_.bytes().size() / sizeof(IndexEntry)) {
      fail(fmt::format("{} images do not fit into the file", header_.num_images));
    }
    check_limit("images", header_.num_images, limits_.max_images);
    const auto bytes = part(header_.index_offset, header_.num_images * sizeof(IndexEntry), "index");
    if (crc32(bytes) != header_.index_crc) fail("the index's checksum does not match");
    entries_.resize(header_.num_images);
    std::memcpy(entries_.data(), bytes.data(), bytes.size());
    for (const auto& entry : entries_) {
      part(entry.offset, entry.size, "image");
      const bool pixels = entry.encoding == static_cast<uint32_t>(PackedEncoding::kPixels);
      if (entry.encoding > static_cast<uint32_t>(PackedEncoding::kEncoded)) {
        fail(fmt::format("unknown encoding {}", entry.encoding));
      }
      // With sides within the limit the product cannot overflow.
      const auto longest = static_cast<uint32_t>(DecodeLimits{}.max_side);
      if (pixels &&
          (entry.width == 0 || entry.height == 0 || entry.width > longest ||
           entry.height > longest || uint64_t{entry.width} * entry.height * 3 != entry.size)) {
        fail(fmt::format("{} bytes for {} x {} pixels", entry.size, entry.width, entry.height));
      }
    }
  }

  void read_text() {
    const auto bytes = part(header_.text_offset, header_.text_size, "text");
    check_limit("bytes of text", header_.text_size, limits_.max_text_bytes);
    if (crc32(bytes) != header_.text_crc) fail("the text's checksum does not match");
    check_json_limits({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                      file_.path().string(), {.max_bytes = limits_.max_text_bytes});
    try {
      const auto text = nlohmann::json::parse(bytes.begin(), bytes.end());
      check_limit("classes", text.at("class_names").size(), limits_.max_classes);
      listing_.class_names = text.at("class_names").get<std::vector<std::string>>();
      const auto meaning = text.at("label_meaning").get<std::string>();
      if (meaning != "name" && meaning != "number") fail("unknown label meaning " + meaning);
      listing_.label_meaning = meaning == "number" ? LabelMeaning::kNumber : LabelMeaning::kName;
      const auto paths = text.at("paths").get<std::vector<std::string>>();
      if (paths.size() != entries_.size()) fail("the number of paths is not that of the images");
      for (size_t i = 0; i < paths.size(); ++i) {
        const int64_t label = entries_[i].label;
        if (listing_.labelled() ? label < 0 || label >= listing_.num_classes()
                                : label != kNoLabel) {
          fail(fmt::format("label {} of image {} is out of range", label, i));
        }
        listing_.samples.push_back({paths[i], label});
      }
    } catch (const nlohmann::json::exception& error) {
      fail(error.what());
    }
    listing_.origin = file_.path().string();
  }

  MappedFile file_;
  PackedLimits limits_;
  Header header_{};
  std::vector<IndexEntry> entries_;
};

struct PackedImage {
  std::vector<uint8_t> bytes;
  IndexEntry entry;
};

PackedImage pack_image(const ImageSource& source, int64_t index, const PackOptions& options) {
  PackedImage packed{};
  packed.entry.label = source.listing().samples[static_cast<size_t>(index)].label;
  packed.entry.encoding = static_cast<uint32_t>(options.encoding);
  if (options.encoding == PackedEncoding::kPixels) {
    auto image = source.read(index);
    if (options.orientation == Orientation::kUpright) image = upright(std::move(image));
    // Enlarged, it would take more space and hold no more.
    if (image.width * image.height > options.image_size * options.image_size) {
      image = resize(image, options.image_size, options.image_size);
    }
    packed.entry.width = static_cast<uint32_t>(image.width);
    packed.entry.height = static_cast<uint32_t>(image.height);
    packed.bytes = std::move(image.pixels);
  } else {
    source.read(index);  // A broken image must not get into the file.
    packed.bytes = source.read_encoded(index);
  }
  packed.entry.size = packed.bytes.size();
  packed.entry.crc = crc32(packed.bytes);
  return packed;
}

std::string text_of(const ImageListing& listing) {
  nlohmann::json text;
  text["class_names"] = listing.class_names;
  text["label_meaning"] = listing.label_meaning == LabelMeaning::kNumber ? "number" : "name";
  auto& paths = text["paths"] = nlohmann::json::array();
  for (const auto& sample : listing.samples) paths.push_back(sample.path);
  // File names are bytes, JSON is UTF-8: what is not becomes U+FFFD.
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool is_packed_file(const fs::path& path) {
  const int descriptor = try_open_for_reading(path);
  if (descriptor < 0) return false;
  std::array<char, 8> magic{};
  const auto length = ::read(descriptor, magic.data(), magic.size());
  ::close(descriptor);
  return length == std::ssize(magic) && magic == kMagic;
}

std::unique_ptr<PackedImages> open_packed_file(const fs::path& path, const PackedLimits& limits) {
  return std::make_unique<PackedReader>(path, limits);
}

void write_packed_file(const fs::path& path, const ImageSource& source,
                       const PackOptions& options) {
  remove_leftovers(path);
  AtomicFile file(path);
  file.write(std::string(kDataOffset, '\0'));

  const int64_t total = source.listing().size();
  std::vector<IndexEntry> entries;
  Progress progress("packing", total, "images");
  for (int64_t begin = 0; begin < total; begin += kImagesPerRound) {
    std::vector<PackedImage> round(static_cast<size_t>(std::min(kImagesPerRound, total - begin)));
    parallel_for(static_cast<int64_t>(round.size()), options.threads, [&](int64_t i) {
      throw_if_interrupted("stopped while packing; nothing was written");
      round[static_cast<size_t>(i)] = pack_image(source, begin + i, options);
    });
    for (auto& image : round) {
      image.entry.offset = static_cast<uint64_t>(file.size());
      entries.push_back(image.entry);
      file.write(image.bytes);
    }
    progress.update(begin + static_cast<int64_t>(round.size()));
  }

  const std::span index(reinterpret_cast<const uint8_t*>(entries.data()),
                        entries.size() * sizeof(IndexEntry));
  const auto text = text_of(source.listing());
  Header header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.num_images = entries.size();
  header.index_offset = static_cast<uint64_t>(file.size());
  header.index_crc = crc32(index);
  file.write(index);
  header.text_offset = static_cast<uint64_t>(file.size());
  header.text_size = text.size();
  header.text_crc = crc32(bytes_of(text));
  file.write(text);
  header.header_crc = crc32(raw_bytes(header).first(offsetof(Header, header_crc)));
  file.write_at(0, raw_bytes(header));
  file.commit();
}

}  // namespace proca::data

#include "models/weights/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/weights/byte_reader.h"
#include "models/weights/checked_shape.h"
#include "proca/core/error.h"

namespace proca::models {
namespace {

struct NamedDtype {
  std::string_view name;
  torch::Dtype dtype;
};

constexpr std::array<NamedDtype, 10> kDtypes{{{"F64", torch::kFloat64},
                                              {"F32", torch::kFloat32},
                                              {"F16", torch::kFloat16},
                                              {"BF16", torch::kBFloat16},
                                              {"I64", torch::kInt64},
                                              {"I32", torch::kInt32},
                                              {"I16", torch::kInt16},
                                              {"I8", torch::kInt8},
                                              {"U8", torch::kUInt8},
                                              {"BOOL", torch::kBool}}};

/// Receives the header's JSON piece by piece. A tree is never built: what the
/// format does not know is refused where it appears, so neither deep nesting
/// nor a repeated key (which a tree would silently merge) gets any further.
class HeaderHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderHandler(std::string origin) : origin_(std::move(origin)) {}

  SafetensorsHeader take_header() { return std::move(header_); }

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  // The parser calls this one for numbers with a minus sign only.
  bool number_integer(number_integer_t value) override {
    fail(fmt::format("{} holds the negative number {}", where(), value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    fail(fmt::format("{} holds {}, which is not a whole number", where(), printable(text)));
  }
  bool binary(binary_t&) override { return refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_) return refuse("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail(fmt::format("{} holds {}, which is too large", where(), value));
    }
    const bool is_shape = field_ == "shape";
    auto& numbers = is_shape ? entry_.shape : offsets_;
    if (numbers.size() >= (is_shape ? static_cast<size_t>(kMaxRank) : 2)) {
      fail(fmt::format("{} holds more than {} numbers", where(), numbers.size()));
    }
    numbers.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata[field_] = std::move(value);
      return true;
    }
    if (depth_ != 2 || in_array_ || field_ != "dtype") return refuse("a text");
    const auto* known = std::find_if(kDtypes.begin(), kDtypes.end(),
                                     [&](const NamedDtype& d) { return d.name == value; });
    if (known == kDtypes.end()) {
      fail(
          fmt::format("tensor {} has the dtype {}, which is not one of F64, F32, F16, BF16, I64, "
                      "I32, I16, I8, U8, BOOL",
                      printable(entry_.name), printable(value)));
    }
    entry_.dtype = known->dtype;
    return true;
  }

  bool key(string_t& name) override {
    if (name.size() > kMaxSafetensorsName) {
      fail(fmt::format("the name {} has {} bytes; {} are allowed", printable(name), name.size(),
                       kMaxSafetensorsName));
    }
    if (depth_ == 1) {
      if (!names_.insert(name).second) fail(fmt::format("{} appears twice", printable(name)));
      in_metadata_ = name == kSafetensorsMetadataKey;
      entry_ = {};
      entry_.name = std::move(name);
      offsets_.clear();
    } else {
      if (!in_metadata_ && name != "dtype" && name != "shape" && name != "data_offsets") {
        fail(fmt::format("tensor {} has an unknown field {}", printable(entry_.name),
                         printable(name)));
      }
      if (!fields_.insert(name).second) {
        fail(fmt::format("{} has the field {} twice", printable(entry_.name), printable(name)));
      }
      field_ = std::move(name);
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth_ == 2) return refuse("an object");
    ++depth_;
    fields_.clear();
    return true;
  }

  bool end_object() override {
    if (--depth_ == 1 && !in_metadata_) {
      if (fields_.size() != 3) {
        fail(fmt::format("tensor {} must have dtype, shape and data_offsets",
                         printable(entry_.name)));
      }
      if (offsets_.size() != 2) {
        fail(fmt::format("tensor {} must have two data_offsets, not {}", printable(entry_.name),
                         offsets_.size()));
      }
      entry_.begin = offsets_[0];
      entry_.end = offsets_[1];
      if (header_.entries.size() == kMaxSafetensorsTensors) {
        fail(fmt::format("it holds more than {} tensors", kMaxSafetensorsTensors));
      }
      header_.entries.push_back(std::move(entry_));
    }
    return true;
  }

  bool start_array(std::size_t) override {
    const bool expected = depth_ == 2 && !in_metadata_ && !in_array_ && field_ != "dtype";
    if (!expected) return refuse("an array");
    in_array_ = true;
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    fail(fmt::format("it is not valid JSON at byte {}", position));
  }

  [[noreturn]] void fail(std::string_view reason) const {
    throw InputError(fmt::format("{}: bad safetensors header: {}", origin_, reason));
  }

 private:
  std::string where() const {
    if (depth_ == 0) return "it";
    return depth_ == 1 ? printable(entry_.name)
                       : fmt::format("{} of {}", printable(field_), printable(entry_.name));
  }
  bool refuse(std::string_view what) const { fail(fmt::format("{} is {}", where(), what)); }

  std::string origin_;
  SafetensorsHeader header_;
  std::unordered_set<std::string> names_;
  int depth_ = 0;  // 1 in the outer object, 2 in a tensor's or the metadata's
  bool in_array_ = false;
  bool in_metadata_ = false;
  SafetensorsEntry entry_;  // the one being read
  std::vector<int64_t> offsets_;
  std::string field_;
  std::unordered_set<std::string> fields_;
};

void check_size(const SafetensorsEntry& entry, const HeaderHandler& handler) {
  if (entry.begin > entry.end) {
    handler.fail(fmt::format("tensor {} ends at {}, before it begins at {}", printable(entry.name),
                             entry.end, entry.begin));
  }
  const auto count = checked_num_elements(entry.shape);
  const auto size = count ? checked_num_bytes(*count, entry.dtype) : std::nullopt;
  if (!size) {
    handler.fail(fmt::format("tensor {} has the shape [{}], which is too large",
                             printable(entry.name), fmt::join(entry.shape, ", ")));
  }
  if (*size != entry.end - entry.begin) {
    handler.fail(fmt::format("tensor {} has {} bytes, but its shape and dtype ask for {}",
                             printable(entry.name), entry.end - entry.begin, *size));
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t data_size,
                                           const std::string& origin) {
  HeaderHandler handler(origin);
  // A byte-order mark, which the parser would skip, is not part of the format.
  if (!json.starts_with('{')) handler.fail("it does not begin with {");
  nlohmann::json::sax_parse(json.begin(), json.end(), &handler);
  auto header = handler.take_header();

  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
            });
  int64_t covered = 0;
  for (const auto& entry : header.entries) {
    check_size(entry, handler);
    if (entry.begin != covered) {
      handler.fail(fmt::format(
          "tensor {} begins at byte {} of the data, but {}", printable(entry.name), entry.begin,
          entry.begin < covered ? fmt::format("the one before it ends at {}", covered)
                                : fmt::format("nothing fills the gap after {}", covered)));
    }
    covered = entry.end;
  }
  if (covered != data_size) {
    handler.fail(
        fmt::format("its tensors take {} bytes, but {} follow the header (is the file cut "
                    "off?)",
                    covered, data_size));
  }
  return header;
}

std::string_view safetensors_dtype_name(torch::Dtype dtype) {
  for (const auto& known : kDtypes) {
    if (known.dtype == dtype) return known.name;
  }
  return {};
}

}  // namespace proca::models

#include "models/weights/safetensors.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "models/weights/byte_reader.h"
#include "models/weights/checked_shape.h"
#include "models/weights/safetensors_header.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca::models {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are copied as they are, and the format is little-endian");

constexpr size_t kAlignment = 8;

using Tensors = std::map<std::string, torch::Tensor>;
using Metadata = std::map<std::string, std::string>;

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};

void check_writable(const std::string& name, const torch::Tensor& tensor,
                    const std::string& origin) {
  const auto fail = [&](std::string_view reason) {
    throw InputError(
        fmt::format("{}: tensor {} cannot be written: {}", origin, printable(name), reason));
  };
  if (name.size() > kMaxSafetensorsName) {
    fail(fmt::format("its name has more than {} bytes", kMaxSafetensorsName));
  }
  if (name == kSafetensorsMetadataKey) fail("the format keeps that name for itself");
  if (!tensor.defined()) fail("it is undefined");
  if (tensor.layout() != torch::kStrided) fail("it is not a dense tensor");
  if (tensor.dim() > kMaxRank) fail(fmt::format("it has more than {} dimensions", kMaxRank));
  if (safetensors_dtype_name(tensor.scalar_type()).empty()) {
    fail(fmt::format("safetensors has no dtype for {}", torch::toString(tensor.scalar_type())));
  }
}

// Large elements first: with a header of whole 8 bytes, every tensor then
// begins at a multiple of its own element size.
std::vector<NamedTensor> in_file_order(const Tensors& tensors) {
  std::vector<NamedTensor> order;
  for (const auto& [name, tensor] : tensors) order.push_back({name, tensor});
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return a.tensor.element_size() > b.tensor.element_size();
  });
  return order;
}

std::string header_of(const std::vector<NamedTensor>& tensors, const Metadata& metadata,
                      const std::string& origin) {
  std::vector<std::string> rows;
  try {
    if (!metadata.empty()) {
      rows.push_back(
          fmt::format("\"{}\":{}", kSafetensorsMetadataKey, nlohmann::json(metadata).dump()));
    }
    int64_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
      const auto end = offset + static_cast<int64_t>(tensor.nbytes());
      rows.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                 nlohmann::json(name).dump(),
                                 safetensors_dtype_name(tensor.scalar_type()),
                                 fmt::join(tensor.sizes(), ","), offset, end));
      offset = end;
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: cannot be written: a name or the metadata is not UTF-8: {}",
                                 origin, error.what()));
  }
  auto text = fmt::format("{{{}}}", fmt::join(rows, ","));
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() > kMaxSafetensorsHeader || tensors.size() > kMaxSafetensorsTensors) {
    throw InputError(
        fmt::format("{}: cannot be written: {} tensors and a header of {} bytes are more than "
                    "a safetensors file may have",
                    origin, tensors.size(), text.size()));
  }
  return text;
}

}  // namespace

WeightFile read_safetensors(const std::filesystem::path& path) {
  const MappedFile file(path);
  return decode_safetensors(file.bytes(), path.string());
}

WeightFile decode_safetensors(std::span<const uint8_t> bytes, const std::string& origin) {
  ByteReader reader(bytes, fmt::format("{}: bad safetensors file", origin));
  const auto length = reader.take_number<uint64_t>();
  if (length > kMaxSafetensorsHeader) {
    reader.fail(fmt::format("the header has {} bytes, more than the {} allowed", length,
                            kMaxSafetensorsHeader));
  }
  const auto json = reader.take_text(length);
  const auto data = reader.take(reader.remaining());
  auto header = parse_safetensors_header(json, static_cast<int64_t>(data.size()), origin);

  WeightFile file;
  file.origin = origin;
  file.metadata = std::move(header.metadata);
  for (const auto& entry : header.entries) {
    const auto content = data.subspan(static_cast<size_t>(entry.begin),
                                      static_cast<size_t>(entry.end - entry.begin));
    const auto tensor = copy_tensor(content, entry.shape, entry.dtype);
    if (!tensor) {
      throw InputError(fmt::format("{}: tensor {} is BOOL but holds a byte that is neither 0 nor 1",
                                   origin, printable(entry.name)));
    }
    file.tensors.emplace(entry.name, *tensor);
  }
  return file;
}

void write_safetensors(const std::filesystem::path& path, const Tensors& tensors,
                       const Metadata& metadata, Sync sync) {
  for (const auto& [name, tensor] : tensors) check_writable(name, tensor, path.string());
  const auto order = in_file_order(tensors);
  const auto header = header_of(order, metadata, path.string());

  AtomicFile file(path);
  const auto length = static_cast<uint64_t>(header.size());
  file.write({reinterpret_cast<const uint8_t*>(&length), sizeof(length)});
  file.write(header);
  for (const auto& entry : order) {
    // One tensor at a time, so that a model on a GPU is never copied as a whole.
    const auto content = entry.tensor.detach().resolve_neg().to(torch::kCPU).contiguous();
    file.write({static_cast<const uint8_t*>(content.data_ptr()), content.nbytes()});
  }
  file.commit(sync);
}

}  // namespace proca::models

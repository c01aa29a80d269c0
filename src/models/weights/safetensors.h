#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include <torch/types.h>

#include "proca/core/file.h"
#include "proca/models/weight_file.h"

namespace proca::models {

/// safetensors: named tensors and text, the project's own weight format. A file
/// cannot run code, and Python reads it with `json` and `struct` alone.
///
/// | bytes | content |
/// |---|---|
/// | 8 | N, the size of the header, little-endian |
/// | N | the header, a JSON object, padded with spaces to a multiple of 8 |
/// | rest | the elements of every tensor, row-major, little-endian |
///
/// The header maps every name to `{"dtype", "shape", "data_offsets"}`, the
/// offsets being [begin, end) after the header, and `"__metadata__"` to a map
/// from text to text. `docs/formats/weight_files.md` has the details.
///
/// Dtypes are F64, F32, F16, BF16, I64, I32, I16, I8, U8 and BOOL, LibTorch's kFloat64 to kBool.

/// Reads a safetensors file. Names are returned as they are in the file;
/// `read_weight_file` also strips DataParallel's prefix.
///
/// Checked before the first tensor is allocated: the header is at most 100 MB,
/// inside the file and valid JSON without repeated keys or anything the format
/// does not know; at most 1,000,000 tensors of at most 16 dimensions, with names of
/// at most 4096 bytes; dtypes are those above; begin <= end, and the difference
/// is the size that dtype and shape require; the tensors follow each other from
/// the first byte after the header to the last of the file, without gap or
/// overlap. So no more than the file's size is allocated. A BOOL byte other than
/// 0 and 1 is refused.
///
/// The tensors are contiguous, writable copies, not views of the mapped file:
/// writing to a view, or a file that another program truncates, would end the
/// process, and elements need not be aligned.
///
/// A file without tensors is fine here. Throws `InputError` naming the file and
/// what is wrong.
WeightFile read_safetensors(const std::filesystem::path& path);

/// The same from memory; `origin` names the bytes in messages.
WeightFile decode_safetensors(std::span<const uint8_t> bytes, const std::string& origin);

/// Writes a safetensors file, atomically.
///
/// Tensors may be on any device and have any strides; they are written in
/// row-major order. Tensors that share memory are written once each.
/// Equal input gives equal bytes: the metadata comes first, sorted by key, then
/// the tensors, large elements before small ones and by name among equals. That
/// order keeps every tensor aligned to its own element size.
///
/// Throws `InputError`, before anything is written, for an undefined, sparse or
/// quantised tensor, a dtype that is not in the table, more than 16 dimensions,
/// a name that is too long, a tensor named `__metadata__`, or text that is not UTF-8; and as
/// `AtomicFile` does when the file cannot be written.
///
/// Example:
/// ```
/// write_safetensors("model.safetensors", network->state(), {{"backbone", "resnet50"}});
/// const auto file = read_safetensors("model.safetensors");
/// file.tensors.at("fc.bias");
/// ```
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, torch::Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       Sync sync = Sync::kNow);

}  // namespace proca::models

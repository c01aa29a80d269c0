#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "models/weights/pth/pickle_value.h"
#include "proca/models/weight_file.h"

namespace proca::models {

/// Reads what `torch.save` has written since PyTorch 1.6: a zip archive with a
/// pickle, `NAME/data.pkl`, and one file per storage, `NAME/data/KEY`.
WeightFile read_pth_zip(std::span<const uint8_t> file, const std::string& origin);

/// Reads what `torch.save` wrote before, one after the other:
///
/// | part | content |
/// |---|---|
/// | pickle | the number 0x1950a86a20f9469cfc6c |
/// | pickle | the number 1001 |
/// | pickle | dict with `little_endian` |
/// | pickle | the saved object |
/// | pickle | list of storage keys |
/// | per key, in that order | int64 number of elements, then the elements |
///
/// Bytes after the last storage are refused.
WeightFile read_pth_stream(std::span<const uint8_t> file, const std::string& origin);

/// Fetches the bytes of a storage from the container; their number must be
/// exactly that of the storage, or the function throws.
using StorageSource = std::function<std::span<const uint8_t>(const PickledStorage&)>;

/// The weights in a pickle.
///
/// The root must be a dict. Where it has `state_dict`, `model_state_dict` or
/// `model` (the first of these) that is a dict itself, that one holds the
/// weights, and everything else at the top, such as an epoch number or the
/// optimiser's state, is ignored and not even loaded. In the dict with the
/// weights, every key must be a text and every value a tensor.
///
/// A storage is copied once, however many tensors share it, and only if a
/// weight needs it, so never more than the file's size is allocated. Each
/// tensor is a view of its storage: it must lie inside it and must not have
/// more elements (a tensor expanded by stride 0 could otherwise claim any size).
WeightFile weights_of(const PickleDocument& document, const StorageSource& source,
                      const std::string& origin);

}  // namespace proca::models

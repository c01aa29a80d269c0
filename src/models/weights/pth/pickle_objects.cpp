// What a pickle may build beyond plain values: storages, tensors and
// OrderedDicts. Each known global is a case here; nothing is ever called.

#include "models/weights/checked_shape.h"
#include "models/weights/pth/pickle_globals.h"
#include "models/weights/pth/pickle_interpreter.h"

namespace proca::models {

std::vector<int64_t> PickleInterpreter::integers(PickleHandle handle, std::string_view what) {
  const auto& list = value(handle);
  if (list.kind != PickleKind::kTuple && list.kind != PickleKind::kList) {
    reader_.fail(fmt::format("{} is {}, not a tuple", what, describe(list.kind)));
  }
  if (list.items.size() > static_cast<size_t>(kMaxRank)) {
    reader_.fail(fmt::format("{} has more than {} dimensions", what, kMaxRank));
  }
  std::vector<int64_t> numbers;
  for (const auto item : list.items) numbers.push_back(integer(item, what));
  return numbers;
}

void PickleInterpreter::reduce() {
  // References, because a file could make copies expensive. Adding a value invalidates
  // them, so every case below adds its result last.
  const auto& arguments = value(pop());
  const auto& callable = value(pop());
  if (callable.kind != PickleKind::kGlobal || arguments.kind != PickleKind::kTuple) {
    reader_.fail(fmt::format("it calls {}; only tensors are read", describe(callable.kind)));
  }
  const auto& global = kPickleGlobals[callable.integer];
  switch (global.role) {
    case PickleRole::kOrderedDict:
      return reduce_ordered_dict(arguments);
    case PickleRole::kRebuildTensor:
      return reduce_tensor(global.name, arguments);
    case PickleRole::kRebuildParameter:
      if (arguments.items.size() != 3 || value(arguments.items[0]).kind != PickleKind::kTensor) {
        reader_.fail("a parameter is not made of a tensor");
      }
      return push(arguments.items[0]);
    case PickleRole::kSize:
      if (arguments.items.size() != 1) reader_.fail("torch.Size needs one argument");
      return push(arguments.items[0]);
    case PickleRole::kDevice:
      return push_items(PickleKind::kDevice, {});
    case PickleRole::kStorageType:
    case PickleRole::kDtype:
      break;
  }
  reader_.fail(fmt::format("it calls {}.{}; only tensors are read", global.module, global.name));
}

// Python 3 fills an empty OrderedDict afterwards; Python 2 passes its items as
// a list of pairs.
void PickleInterpreter::reduce_ordered_dict(const PickleValue& arguments) {
  Items items;
  if (arguments.items.size() > 1) reader_.fail("OrderedDict needs at most one argument");
  if (arguments.items.size() == 1) {
    for (const auto pair_handle : value(arguments.items[0]).items) {
      const auto& pair = value(pair_handle);
      const bool is_pair = (pair.kind == PickleKind::kList || pair.kind == PickleKind::kTuple) &&
                           pair.items.size() == 2;
      if (!is_pair) reader_.fail("OrderedDict's argument is not a list of pairs");
      items.insert(items.end(), pair.items.begin(), pair.items.end());
    }
  }
  push_items(PickleKind::kDict, std::move(items));
}

// (storage, offset, size, stride[, requires_grad, hooks[, metadata]])
void PickleInterpreter::reduce_tensor(std::string_view name, const PickleValue& arguments) {
  const auto& items = arguments.items;
  const bool complete =
      name == "_rebuild_tensor" ? items.size() == 4 : items.size() == 6 || items.size() == 7;
  if (!complete || value(items[0]).kind != PickleKind::kStorage) {
    reader_.fail("a tensor is not made of a storage, an offset, a size and a stride");
  }
  // Newer versions mark negated and conjugated elements in the metadata.
  if (items.size() == 7) {
    const auto& metadata = value(items[6]);
    if (metadata.kind != PickleKind::kNone && !metadata.items.empty()) {
      reader_.fail("a tensor has metadata, which is not supported");
    }
  }
  PickledTensor tensor;
  tensor.storage = value(items[0]).integer;
  tensor.offset = integer(items[1], "a tensor's offset");
  tensor.sizes = integers(items[2], "a tensor's size");
  tensor.strides = integers(items[3], "a tensor's stride");
  document_.tensors.push_back(std::move(tensor));
  push_value({PickleKind::kTensor, static_cast<int64_t>(document_.tensors.size()) - 1, {}, {}});
}

// ("storage", type, key, device, number of elements[, view]); the view, which
// only the older stream has, is None in everything since 2016.
void PickleInterpreter::load_persistent() {
  const auto& id = value(pop());
  const auto is_text = [&](size_t i) { return value(id.items[i]).kind == PickleKind::kText; };
  const bool is_storage = id.kind == PickleKind::kTuple &&
                          (id.items.size() == 5 || id.items.size() == 6) && is_text(0) &&
                          value(id.items[0]).text == "storage";
  if (!is_storage || !is_text(2)) {
    reader_.fail("it refers to something that is not a storage; only tensors are read");
  }
  const auto& type = value(id.items[1]);
  if (type.kind != PickleKind::kGlobal ||
      kPickleGlobals[type.integer].role != PickleRole::kStorageType) {
    reader_.fail("a storage has no storage type");
  }
  if (id.items.size() == 6 && value(id.items[5]).kind != PickleKind::kNone) {
    reader_.fail("a storage is a view of another, which is not supported");
  }
  const PickledStorage storage{value(id.items[2]).text, kPickleGlobals[type.integer].dtype,
                               integer(id.items[4], "a storage's number of elements")};
  if (!checked_num_bytes(storage.num_elements, storage.dtype)) {
    reader_.fail(fmt::format("a storage has {} elements", storage.num_elements));
  }
  const auto next = static_cast<int64_t>(document_.storages.size());
  const auto [known, is_new] = storage_by_key_.emplace(storage.key, next);
  if (is_new) {
    document_.storages.push_back(storage);
  } else if (const auto& first = document_.storages[static_cast<size_t>(known->second)];
             first.dtype != storage.dtype || first.num_elements != storage.num_elements) {
    reader_.fail(fmt::format("it describes storage {} in two ways", printable(storage.key)));
  }
  push_value({PickleKind::kStorage, known->second, {}, {}});
}

}  // namespace proca::models

#include "adaptation/prototype_mirror.h"

#include "models/weights/device_copy.h"

namespace proca::adaptation {
namespace {

int64_t bytes_of(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.numel() * static_cast<int64_t>(tensor.element_size()) : 0;
}

}  // namespace

PrototypeMirror::PrototypeMirror(torch::Device device, int64_t budget_bytes)
    : device_(device), budget_bytes_(budget_bytes) {}

int64_t PrototypeMirror::bytes() const {
  return bytes_of(copy_.pixels) + bytes_of(copy_.soft_labels) + bytes_of(copy_.labels);
}

PrototypeBatch PrototypeMirror::gather(const PrototypeMemory& memory,
                                       const std::vector<int64_t>& indexes) {
  if (memory.bytes() > budget_bytes_ || memory.size() == 0) {
    copy_ = {};
    seen_.clear();
    revision_ = -1;
    const auto batch = memory.gather(indexes);
    return {models::copy_to(batch.pixels, device_), models::copy_to(batch.soft_labels, device_),
            models::copy_to(batch.labels, device_)};
  }
  // Checked here: on a GPU the error would appear only at the end of the epoch.
  for (const int64_t index : indexes) {
    TORCH_CHECK(index >= 0 && index < memory.size(), "prototype ", index, " of ", memory.size());
  }
  if (memory.revision() != revision_) refresh(memory);
  const auto rows = models::copy_to(indexes, device_);
  return {copy_.pixels.index_select(0, rows), copy_.soft_labels.index_select(0, rows),
          copy_.labels.index_select(0, rows)};
}

void PrototypeMirror::refresh(const PrototypeMemory& memory) {
  const auto& classes = memory.classes();
  const auto& [pixels, soft_labels, labels] = memory.gather({});  // empty, with the right shapes
  const auto with_rows = [&](const torch::Tensor& empty) {
    auto sizes = empty.sizes().vec();
    sizes.front() = memory.size();
    return torch::empty(sizes, empty.options().device(device_));
  };
  const bool fits = copy_.pixels.defined() && copy_.pixels.size(0) == memory.size() &&
                    per_class_ == memory.per_class() &&
                    copy_.pixels.sizes().slice(1) == pixels.sizes().slice(1) &&
                    copy_.soft_labels.size(1) == soft_labels.size(1);
  if (!fits) {
    seen_.assign(classes.size(), {});
    copy_ = {};
    copy_ = {with_rows(pixels), with_rows(soft_labels), with_rows(labels)};
    per_class_ = memory.per_class();
  }
  for (size_t place = 0; place < classes.size(); ++place) {
    const auto& prototypes = classes[place];
    // Whatever changes a class gives it other tensors.
    if (seen_[place].defined() && seen_[place].is_same(prototypes.pixels)) continue;
    const int64_t first = static_cast<int64_t>(place) * per_class_;
    // Not through pinned memory: allocating that for all classes at once takes longer.
    copy_.pixels.narrow(0, first, per_class_).copy_(prototypes.pixels);
    copy_.soft_labels.narrow(0, first, per_class_).copy_(prototypes.soft_labels);
    copy_.labels.narrow(0, first, per_class_).fill_(prototypes.label);
    seen_[place] = prototypes.pixels;
  }
  revision_ = memory.revision();
}

}  // namespace proca::adaptation

#include "adaptation/prototype_mirror.h"

#include <algorithm>

#include "models/weights/device_copy.h"

namespace proca::adaptation {
namespace {

int64_t bytes_of(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.numel() * static_cast<int64_t>(tensor.element_size()) : 0;
}

// The first rows of `old` in a tensor that has more of them.
torch::Tensor with_rows(const torch::Tensor& old, int64_t num_kept, at::IntArrayRef sizes,
                        torch::Dtype type, torch::Device device) {
  auto result = torch::empty(sizes, torch::dtype(type).device(device));
  if (num_kept > 0) result.narrow(0, 0, num_kept).copy_(old.narrow(0, 0, num_kept));
  return result;
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
  // Here, since on a GPU nobody would say so before the end of the epoch.
  for (const int64_t index : indexes) {
    TORCH_CHECK(index >= 0 && index < memory.size(), "prototype ", index, " of ", memory.size());
  }
  if (memory.revision() != revision_) refresh(memory);
  const auto rows = models::copy_to(indexes, device_);
  return {copy_.pixels.index_select(0, rows), copy_.soft_labels.index_select(0, rows),
          copy_.labels.index_select(0, rows)};
}

void PrototypeMirror::refresh(const PrototypeMemory& memory) {
  make_room(memory);
  const auto& classes = memory.classes();
  seen_.resize(classes.size());
  for (size_t place = 0; place < classes.size(); ++place) {
    const auto& prototypes = classes[place];
    // Whatever changes a class gives it other tensors.
    if (seen_[place].defined() && seen_[place].is_same(prototypes.pixels)) continue;
    const int64_t first = static_cast<int64_t>(place) * per_class_;
    // Straight: pinned memory for all classes at once would take longer to get.
    copy_.pixels.narrow(0, first, per_class_).copy_(prototypes.pixels);
    copy_.soft_labels.narrow(0, first, per_class_).copy_(prototypes.soft_labels);
    copy_.labels.narrow(0, first, per_class_).fill_(prototypes.label);
    seen_[place] = prototypes.pixels;
  }
  revision_ = memory.revision();
}

// Room for twice as much as there was, so that classes that come one by one are not
// moved each time; but never more than the budget allows.
void PrototypeMirror::make_room(const PrototypeMemory& memory) {
  const auto& model = memory.classes().front();
  const int64_t height = model.pixels.size(1), width = model.pixels.size(2);
  const int64_t num_labels = model.soft_labels.size(1);
  const bool same_shape = copy_.pixels.defined() && per_class_ == memory.per_class() &&
                          copy_.pixels.sizes().slice(1) == model.pixels.sizes().slice(1) &&
                          copy_.soft_labels.size(1) == num_labels;
  if (!same_shape || static_cast<int64_t>(seen_.size()) > memory.num_classes()) {
    copy_ = {};
    seen_.clear();
  }
  per_class_ = memory.per_class();
  const int64_t old_room = copy_.pixels.defined() ? copy_.pixels.size(0) : 0;
  if (old_room >= memory.size()) return;
  const int64_t affordable = budget_bytes_ / (memory.bytes() / memory.size());
  const int64_t room = std::max(memory.size(), std::min(2 * old_room, affordable));
  const int64_t num_kept = static_cast<int64_t>(seen_.size()) * per_class_;
  copy_.pixels =
      with_rows(copy_.pixels, num_kept, {room, height, width, 3}, torch::kUInt8, device_);
  copy_.soft_labels =
      with_rows(copy_.soft_labels, num_kept, {room, num_labels}, torch::kFloat32, device_);
  copy_.labels = with_rows(copy_.labels, num_kept, {room}, torch::kInt64, device_);
}

}  // namespace proca::adaptation

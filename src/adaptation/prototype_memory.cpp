#include "proca/adaptation/prototype_memory.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/core/log.h"

namespace proca::adaptation {
namespace {

/// Pixels and soft labels of one prototype.
int64_t prototype_bytes(const ClassPrototypes& prototypes) {
  const auto& pixels = prototypes.pixels;
  return pixels.size(1) * pixels.size(2) * pixels.size(3) +
         prototypes.soft_labels.size(1) * static_cast<int64_t>(sizeof(float));
}

/// A copy of the first rows: a view would keep all of them in memory.
torch::Tensor first_rows(const torch::Tensor& rows, int64_t count, torch::Dtype dtype) {
  return rows.detach()
      .narrow(0, 0, count)
      .to(torch::kCPU, dtype)
      .clone(torch::MemoryFormat::Contiguous);
}

void keep_first(ClassPrototypes& prototypes, int64_t count) {
  prototypes.pixels = first_rows(prototypes.pixels, count, torch::kUInt8);
  prototypes.soft_labels = first_rows(prototypes.soft_labels, count, torch::kFloat32);
  const auto shorten = [&](auto& values) {
    if (static_cast<int64_t>(values.size()) > count) values.resize(static_cast<size_t>(count));
    values.shrink_to_fit();
  };
  shorten(prototypes.image_ids);
  shorten(prototypes.origins);
}

void require(bool holds, const ClassPrototypes& prototypes, std::string_view rule) {
  if (holds) return;
  throw std::invalid_argument(fmt::format("prototypes of class {}: {}", prototypes.label, rule));
}

void check(const ClassPrototypes& prototypes, int64_t per_class) {
  const auto& [label, score, step, pixels, soft_labels, image_ids, origins] = prototypes;
  require(label >= 0, prototypes, "a class is a number from 0 on");
  require(step >= 0, prototypes, "steps count from 0");
  require(std::isfinite(score), prototypes, "the score must be a finite number");
  require(pixels.defined() && pixels.scalar_type() == torch::kUInt8 && pixels.dim() == 4 &&
              pixels.size(1) > 0 && pixels.size(2) > 0 && pixels.size(3) == 3,
          prototypes, "pixels must be uint8 [M, H, W, 3]");
  require(soft_labels.defined() && soft_labels.is_floating_point() && soft_labels.dim() == 2 &&
              soft_labels.size(1) > 0,
          prototypes, "soft labels must be float [M, K]");
  const int64_t count = pixels.size(0);
  const auto num_known = static_cast<int64_t>(origins.empty() ? image_ids.size() : origins.size());
  require(soft_labels.size(0) == count && num_known == count, prototypes,
          "needs as many soft labels and ids or origins as images");
  require(count >= per_class, prototypes, "there are too few");
  if (!torch::isfinite(soft_labels).all().item<bool>()) {
    throw Error(fmt::format("a soft label of class {} is no finite number", label));
  }
}

}  // namespace

PrototypeMemory::PrototypeMemory(int64_t per_class, int64_t budget_bytes)
    : per_class_(per_class), budget_bytes_(budget_bytes) {
  if (per_class < 1 || budget_bytes < 0) {
    throw std::invalid_argument(fmt::format(
        "a prototype memory cannot hold {} per class in {} bytes", per_class, budget_bytes));
  }
}

const ClassPrototypes& PrototypeMemory::at(int64_t label) const {
  return classes_[places_.at(label)];
}

void PrototypeMemory::put(ClassPrototypes prototypes) {
  check(prototypes, per_class_);
  const auto place = places_.find(prototypes.label);
  const bool is_new = place == places_.end();
  const int64_t num_others = num_classes() - (is_new ? 0 : 1);
  if (num_others > 0) {
    const auto& other = classes_.front();
    require(prototypes.pixels.sizes().slice(1) == other.pixels.sizes().slice(1) &&
                prototypes.soft_labels.size(1) == other.soft_labels.size(1),
            prototypes, "images and soft labels must have the size of those in memory");
  }
  make_room(num_others + 1, prototype_bytes(prototypes));
  keep_first(prototypes, per_class_);
  if (is_new) {
    places_.emplace(prototypes.label, classes_.size());
    classes_.push_back(std::move(prototypes));
  } else {
    classes_[place->second] = std::move(prototypes);
  }
  ++revision_;
}

void PrototypeMemory::name_images(const std::function<std::string(int64_t)>& name_of) {
  for (auto& [label, score, step, pixels, soft_labels, image_ids, origins] : classes_) {
    if (image_ids.empty()) continue;
    origins.resize(image_ids.size());
    for (size_t i = 0; i < image_ids.size(); ++i) {
      if (image_ids[i] != ClassPrototypes::kNamed) origins[i] = name_of(image_ids[i]);
    }
    image_ids.clear();
  }
}

void PrototypeMemory::make_room(int64_t num_classes, int64_t prototype_bytes) {
  if (budget_bytes_ == 0) return;
  const int64_t fitting = budget_bytes_ / (num_classes * prototype_bytes);
  if (fitting >= per_class_) return;
  if (fitting == 0) {
    throw InputError(fmt::format(
        "a memory of {} bytes cannot hold one prototype of {} bytes for each of {} classes",
        budget_bytes_, prototype_bytes, num_classes));
  }
  log_warning(fmt::format(
      "prototypes per class go from {} to {}: the memory of {} bytes now holds {} {}", per_class_,
      fitting, budget_bytes_, num_classes, num_classes == 1 ? "class" : "classes"));
  for (auto& prototypes : classes_) keep_first(prototypes, fitting);
  per_class_ = fitting;
  ++revision_;
}

int64_t PrototypeMemory::bytes() const {
  return classes_.empty() ? 0 : size() * prototype_bytes(classes_.front());
}

PrototypeBatch PrototypeMemory::gather(const std::vector<int64_t>& indexes) const {
  for (const int64_t index : indexes) {
    TORCH_CHECK(index >= 0 && index < size(), "prototype ", index, " of ", size());
  }
  if (classes_.empty()) {
    return {.pixels = torch::empty({0, 0, 0, 3}, torch::kUInt8),
            .soft_labels = torch::empty({0, 0}),
            .labels = torch::empty({0}, torch::kInt64)};
  }
  // Empty slices first: without indexes the batch still has the right shape.
  std::vector<torch::Tensor> pixels = {classes_.front().pixels.narrow(0, 0, 0)};
  std::vector<torch::Tensor> soft_labels = {classes_.front().soft_labels.narrow(0, 0, 0)};
  std::vector<int64_t> labels;
  for (const int64_t index : indexes) {
    const auto& prototypes = classes_[static_cast<size_t>(index / per_class_)];
    pixels.push_back(prototypes.pixels.narrow(0, index % per_class_, 1));
    soft_labels.push_back(prototypes.soft_labels.narrow(0, index % per_class_, 1));
    labels.push_back(prototypes.label);
  }
  return {torch::cat(pixels), torch::cat(soft_labels), torch::tensor(labels, torch::kInt64)};
}

}  // namespace proca::adaptation

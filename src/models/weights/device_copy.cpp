#include "models/weights/device_copy.h"

#include <algorithm>

namespace proca::models {

torch::Tensor staging(at::IntArrayRef sizes, torch::Dtype type, torch::Device device) {
  return torch::empty(sizes, torch::dtype(type).pinned_memory(device.is_cuda()));
}

torch::Tensor copy_to(const torch::Tensor& values, torch::Device device) {
  if (!values.is_cpu() || device.is_cpu()) return values.to(device);
  if (values.is_pinned()) return values.to(device, /*non_blocking=*/true);
  const auto staged = staging(values.sizes(), values.scalar_type(), device).copy_(values);
  return staged.to(device, /*non_blocking=*/true);
}

torch::Tensor copy_to(const std::vector<int64_t>& values, torch::Device device) {
  const auto staged = staging({static_cast<int64_t>(values.size())}, torch::kInt64, device);
  std::copy(values.begin(), values.end(), staged.data_ptr<int64_t>());
  return copy_to(staged, device);
}

}  // namespace proca::models

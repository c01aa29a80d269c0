#include "compute/copy_stream.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace proca::compute {

c10::Stream side_stream(torch::Device device) {
  return c10::impl::VirtualGuardImpl(device.type())
      .getStreamFromGlobalPool(device, /*isHighPriority=*/true);
}

CopyStream::CopyStream(torch::Device device) : device_(device), stream_(side_stream(device)) {}

CopyStream::Copies CopyStream::copy(const std::vector<torch::Tensor>& pinned) const {
  const c10::StreamGuard aside(stream_);
  Copies copies{{}, c10::Event(device_.type())};
  for (const auto& tensor : pinned) {
    copies.tensors.push_back(tensor.to(device_, /*non_blocking=*/true));
  }
  copies.arrival.record(stream_);
  return copies;
}

std::vector<torch::Tensor> CopyStream::use(Copies copies) const {
  const auto current = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  copies.arrival.block(current);
  // Allocated on the copying stream, which could reuse their memory for the next copy.
  for (auto& tensor : copies.tensors) tensor.record_stream(current);
  return std::move(copies.tensors);
}

}  // namespace proca::compute

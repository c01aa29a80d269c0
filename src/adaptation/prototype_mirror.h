#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "proca/adaptation/prototype_memory.h"

namespace proca::adaptation {

/// A copy of a prototype memory on a device, so that replay finds its images there.
///
/// The copy follows the memory: `gather` first copies the classes that have changed; a
/// new class means that all are copied again. A memory larger than the budget is not
/// copied; its prototypes are gathered on the CPU and copied through pinned memory.
/// Gathering never waits for the GPU.
///
/// Example:
/// ```
/// PrototypeMirror mirror(device, device.is_cuda() ? int64_t{4} << 30 : 0);
/// const auto batch = mirror.gather(memory, {0, 17, 3});   // batch.pixels is on the device
/// ```
class PrototypeMirror {
 public:
  /// With a budget of 0 there is never a copy: best on a CPU, where the memory is already.
  PrototypeMirror(torch::Device device, int64_t budget_bytes);

  /// The same as `memory.gather(indexes)`, on the device. `memory` is the same one in
  /// all calls.
  PrototypeBatch gather(const PrototypeMemory& memory, const std::vector<int64_t>& indexes);

  /// Bytes of the copy.
  int64_t bytes() const;

 private:
  void refresh(const PrototypeMemory& memory);

  torch::Device device_;
  int64_t budget_bytes_;
  int64_t revision_ = -1;            // of the memory at the last refresh
  int64_t per_class_ = 0;            // of the copy
  PrototypeBatch copy_;              // of all prototypes
  std::vector<torch::Tensor> seen_;  // by class, the memory's pixels that were copied
};

}  // namespace proca::adaptation

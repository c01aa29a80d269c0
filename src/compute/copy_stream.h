#pragma once

#include <vector>

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <torch/types.h>

namespace proca::compute {

/// A stream for work beside training. Of high priority, because LibTorch hands out its few streams
/// in turns, and training uses one of low priority.
c10::Stream side_stream(torch::Device device);

/// Copies to a GPU while it computes.
class CopyStream {
 public:
  explicit CopyStream(torch::Device device);

  /// Tensors being copied, and the event that marks their arrival.
  struct Copies {
    std::vector<torch::Tensor> tensors;
    c10::Event arrival;
  };
  /// Starts copying tensors of pinned memory.
  Copies copy(const std::vector<torch::Tensor>& pinned) const;
  /// The tensors, for use on the current stream, which waits for them; the host does not.
  std::vector<torch::Tensor> use(Copies copies) const;

 private:
  torch::Device device_;
  c10::Stream stream_;
};

}  // namespace proca::compute

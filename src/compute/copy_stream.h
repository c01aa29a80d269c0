#pragma once

#include <vector>

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <torch/types.h>

namespace proca::compute {

/// A stream for what goes on beside training. It is one of those of high priority, of which
/// training never is: streams are few and given out again and again.
c10::Stream side_stream(torch::Device device);

/// Copies to a GPU beside what it computes.
class CopyStream {
 public:
  explicit CopyStream(torch::Device device);

  /// Tensors on their way, and the moment when they will have arrived.
  struct Copies {
    std::vector<torch::Tensor> tensors;
    c10::Event arrival;
  };
  /// Begins to copy tensors of pinned memory.
  Copies copy(const std::vector<torch::Tensor>& pinned) const;
  /// The tensors, for what is computed on the current stream from here on. The host does
  /// not wait.
  std::vector<torch::Tensor> use(Copies copies) const;

 private:
  torch::Device device_;
  c10::Stream stream_;
};

}  // namespace proca::compute

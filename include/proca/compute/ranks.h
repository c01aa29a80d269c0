#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <torch/types.h>

namespace proca::compute {

/// A contiguous part of some rows.
struct Share {
  int64_t first = 0;
  int64_t count = 0;
};

/// The processes ("ranks") that train one network together.
///
/// Every rank has the same batches. The expensive part is divided: a backbone computes the features
/// of its share of a batch and receives those of the other shares; batch-norm uses the statistics
/// of the whole batch; gradients of the backbone's weights are summed. Losses, classifier and
/// optimiser run on the whole batch on every rank, so that N ranks compute what a single process
/// does, up to rounding, with any loss.
///
/// All ranks must make the same calls in the same order. A call throws `Error` when another
/// rank has ended or does not answer in time.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int64_t rank() const = 0;  ///< 0 to size() - 1
  virtual int64_t size() const = 0;

  /// A sum in progress.
  class Pending {
   public:
    virtual ~Pending() = default;
    /// Returns when the values are complete; on a GPU, when its current stream may use them.
    virtual void wait() = 0;
  };
  /// Replaces dense `values` by their sum over all ranks: the same bits on every rank.
  virtual std::unique_ptr<Pending> begin_sum(const torch::Tensor& values) = 0;
  void sum(const torch::Tensor& values) { begin_sum(values)->wait(); }

  /// Replaces dense `values` by those of rank 0.
  virtual void broadcast(const torch::Tensor& values) = 0;

  /// This rank's part of `count` rows; shares differ by one at most and may be empty.
  Share share_of(int64_t count) const;
  /// Completes rows of which every rank has filled in its share, with zeros elsewhere.
  void complete(const torch::Tensor& rows) { sum(rows); }
};

/// Runs `compute` on this rank's share of each group of images and gathers the results of all
/// ranks: [N, D] for [N, ...] images, with gradients.
///
/// `compute` gets at least one image: padding behind empty groups where this rank has none.
torch::Tensor compute_shared(
    Ranks& ranks, const torch::Tensor& images, at::IntArrayRef group_sizes,
    const std::function<torch::Tensor(const torch::Tensor& images, at::IntArrayRef group_sizes)>&
        compute);

}  // namespace proca::compute

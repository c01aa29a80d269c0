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

/// The processes ("ranks") that train one network together, seen from one of them.
///
/// Every rank sees the same batches and takes the same decisions. Only what is expensive is
/// shared out: a backbone computes the features of its share of a batch and gets those of
/// the others from them; batch-norm has the statistics of the whole batch; the gradients of
/// the backbone's weights are added up. Losses, classifier and optimiser work on the whole,
/// on every rank, so that N ranks compute what one computes alone, up to rounding, whatever
/// the loss.
///
/// All ranks must make the same calls in the same order. A call throws `Error` when another
/// rank has ended or does not answer in time.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int64_t rank() const = 0;  ///< 0 to size() - 1
  virtual int64_t size() const = 0;

  /// A sum that is being worked out.
  class Pending {
   public:
    virtual ~Pending() = default;
    /// Until the values are there; on a GPU, until its current stream may use them.
    virtual void wait() = 0;
  };
  /// Replaces dense `values` by their sum over all ranks: the same bits on every rank.
  virtual std::unique_ptr<Pending> begin_sum(const torch::Tensor& values) = 0;
  void sum(const torch::Tensor& values) { begin_sum(values)->wait(); }

  /// Replaces dense `values` by those of rank 0.
  virtual void broadcast(const torch::Tensor& values) = 0;

  /// This rank's part of `count` rows; shares differ by one at most and may be empty.
  Share share_of(int64_t count) const;
  /// Rows that every rank has filled in its own share of, zeros elsewhere: fills in the rest.
  void complete(const torch::Tensor& rows) { sum(rows); }
};

/// `compute` on this rank's share of each group of images, put together with what the other
/// ranks computed: [N, D] for [N, ...] images, with gradients.
///
/// `compute` gets at least one image; where this rank has none, the one it gets is padding
/// behind groups of no image.
torch::Tensor compute_shared(
    Ranks& ranks, const torch::Tensor& images, at::IntArrayRef group_sizes,
    const std::function<torch::Tensor(const torch::Tensor& images, at::IntArrayRef group_sizes)>&
        compute);

}  // namespace proca::compute

#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

namespace proca::adaptation {

/// How `herd` chooses. The defaults are those of the authors' program.
struct HerdingOptions {
  enum class Features {
    kUnit,  ///< each feature is L2-normalised first; the mean is not normalised again
    kRaw,   ///< as they are: the paper
  } features = Features::kUnit;
  enum class Repeats {
    kAllowed,   ///< an image may be chosen more than once
    kIfNeeded,  ///< only after every image has been chosen as often as any other
  } repeats = Repeats::kAllowed;
};

/// Chooses `count` images whose mean feature stays close to the mean f of all:
///
///     p_m = argmin_x || f - (1/m) (g(x) + sum_{i<m} g(p_i)) ||      m = 1 .. count
///
/// Returns `count` indexes in the order of choice: every prefix is a good choice of
/// its length. Ties (squared distances equal but for one part in a billion) go to the
/// smaller index. With fewer images than `count` some
/// occur more than once; with none the result is empty.
///
/// `features` is float [N, D]; throws `Error` when one is not a finite number.
/// Computed in double on the CPU: one pass over the features per prototype.
std::vector<int64_t> herd(const torch::Tensor& features, int64_t count,
                          const HerdingOptions& options = {});

}  // namespace proca::adaptation

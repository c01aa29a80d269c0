#include "losses/unit_rows.h"

#include <limits>

namespace proca::losses {

torch::Tensor unit_rows(const torch::Tensor& rows) {
  constexpr double kShortest = 1e-8;
  const auto lengths = rows.norm(2, /*dim=*/1, /*keepdim=*/true);
  return rows / lengths.masked_fill(lengths < kShortest, std::numeric_limits<double>::infinity());
}

}  // namespace proca::losses

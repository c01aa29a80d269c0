#include "adaptation/host_doubles.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::adaptation {

torch::Tensor host_doubles(const torch::Tensor& rows, std::string_view what) {
  TORCH_CHECK(rows.dim() == 2, what, " must be a matrix, not ", rows.sizes());
  auto result = rows.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const auto* values = result.data_ptr<double>();
  for (int64_t i = 0; i < result.numel(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw Error(
        fmt::format("the {} of image {} (counted from 0) hold {}, which is no finite number", what,
                    i / result.size(1), values[i]));
  }
  return result;
}

torch::Tensor unit_rows(const torch::Tensor& rows) {
  const auto lengths = rows.norm(2, /*dim=*/1, /*keepdim=*/true);
  return rows / lengths.masked_fill(lengths == 0, 1.0);
}

double squared_distance(const double* a, const double* b, int64_t size) {
  // Independent sums, which the compiler keeps in vector registers.
  constexpr int64_t kLanes = 8;
  std::array<double, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double difference = a[i + lane] - b[i + lane];
      sums[static_cast<size_t>(lane)] += difference * difference;
    }
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  for (; i < size; ++i) total += (a[i] - b[i]) * (a[i] - b[i]);
  return total;
}

}  // namespace proca::adaptation

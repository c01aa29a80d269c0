// The order of the floating-point operations here is Pillow's: another order
// gives weights that differ in the last of their 22 bits now and then.

#include "data/pixels/resize_filter.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace proca::data {
namespace {

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

AxisFilter make_filter(int64_t in_size, int64_t out_size) {
  AxisFilter filter;
  filter.in_size = in_size;
  filter.out_size = out_size;
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  const double support = std::max(scale, 1.0);  // half the width of the triangle
  const double inverse_support = 1.0 / support;

  filter.taps.reserve(static_cast<size_t>(out_size));
  std::vector<double> weights;
  for (int64_t i = 0; i < out_size; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    const auto last = std::min(in_size, static_cast<int64_t>(centre + support + 0.5));

    weights.clear();
    double sum = 0;
    for (int64_t x = first; x < last; ++x) {
      weights.push_back(triangle((static_cast<double>(x) - centre + 0.5) * inverse_support));
      sum += weights.back();
    }

    const auto offset = static_cast<int64_t>(filter.weights.size());
    for (const double weight : weights) {
      filter.weights.push_back(static_cast<int32_t>(0.5 + weight / sum * (1 << kWeightBits)));
    }
    filter.weights.resize(static_cast<size_t>(
        round_up(static_cast<int64_t>(filter.weights.size()), AxisFilter::kTapGroup)));
    filter.taps.push_back(
        {static_cast<int32_t>(first), static_cast<int32_t>(last - first), offset});
  }

  for (const int32_t weight : filter.weights) {
    filter.low.push_back(static_cast<int16_t>(weight & ((1 << AxisFilter::kLowBits) - 1)));
    filter.high.push_back(static_cast<int16_t>(weight >> AxisFilter::kLowBits));
  }
  return filter;
}

}  // namespace

std::shared_ptr<const AxisFilter> axis_filter(int64_t in_size, int64_t out_size) {
  thread_local std::array<std::shared_ptr<const AxisFilter>, 8> recent;
  thread_local size_t oldest = 0;
  for (const auto& filter : recent) {
    if (filter && filter->in_size == in_size && filter->out_size == out_size) return filter;
  }
  auto& slot = recent[oldest];
  oldest = (oldest + 1) % recent.size();
  slot = std::make_shared<const AxisFilter>(make_filter(in_size, out_size));
  return slot;
}

}  // namespace proca::data

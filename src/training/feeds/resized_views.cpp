#include "training/feeds/resized_views.h"

namespace proca::training {
namespace {

torch::Tensor counting(int64_t count, const PixelBoxes& boxes) {
  return torch::arange(count, boxes.first.options());
}

// Output positions along an axis, int64 [N, size]; from the far end for mirrored boxes.
torch::Tensor columns(const PixelBoxes& boxes, int64_t size) {
  const auto place = counting(size, boxes);
  return place + boxes.flip.unsqueeze(1) * (size - 1 - 2 * place);
}

// Weights are whole multiples of 2^-22, as in data/resize_filter.cpp.
constexpr double kWeightUnits = 1 << 22;

// The weight of every source pixel in every output pixel, double [N, size, max_length], in
// units. `places` are the output pixels, int64 [N, size] or [1, size]. Beyond an axis' own
// length all is zero.
torch::Tensor axis_weights(const torch::Tensor& lengths, const torch::Tensor& places,
                           int64_t max_length) {
  const auto length = lengths.view({-1, 1, 1});
  const auto scale = length.to(torch::kFloat64) / static_cast<double>(places.size(1));
  const auto inverse_support = scale.clamp_min(1.0).reciprocal();  // the triangle is twice as wide
  const auto centre = (places.unsqueeze(2) + 0.5) * scale;
  const auto source = torch::arange(max_length, lengths.options());
  auto weights = (1 - ((source - centre + 0.5) * inverse_support).abs()).clamp_min(0);
  weights = weights * (source < length);
  weights = weights / weights.sum(2, /*keepdim=*/true);
  return weights.mul_(kWeightUnits).add_(0.5).floor_();
}

torch::Tensor to_levels(torch::Tensor sums) {
  return sums.div_(kWeightUnits).add_(0.5).floor_().clamp_(0, 255);
}

}  // namespace

torch::Tensor cut_boxes(const PixelBoxes& boxes, int64_t size) {
  const auto rows = boxes.first.unsqueeze(1) + counting(size, boxes) * boxes.stride.unsqueeze(1);
  const auto places = rows.unsqueeze(2) + columns(boxes, size).unsqueeze(1);
  return boxes.pixels.index_select(0, places.flatten()).view({-1, size, size, 3});
}

torch::Tensor resize_boxes(const PixelBoxes& boxes, int64_t size, int64_t max_width,
                           int64_t max_height) {
  // Pixels beyond a box have no weight; they only need to exist.
  const auto column = torch::minimum(counting(max_width, boxes), boxes.width.unsqueeze(1) - 1);
  const auto row = torch::minimum(counting(max_height, boxes), boxes.height.unsqueeze(1) - 1) *
                       boxes.stride.unsqueeze(1) +
                   boxes.first.unsqueeze(1);
  // Columns before rows, so that the first product sums over one dimension.
  const auto places = column.unsqueeze(2) + row.unsqueeze(1);  // [N, max_width, max_height]
  const auto sources = boxes.pixels.index_select(0, places.flatten())
                           .to(torch::kFloat64)
                           .view({-1, max_width, max_height * 3});
  const auto narrowed =
      to_levels(torch::bmm(axis_weights(boxes.width, columns(boxes, size), max_width), sources))
          .view({-1, size, max_height, 3})
          .transpose(1, 2)
          .reshape({-1, max_height, size * 3});
  const auto heights = axis_weights(boxes.height, counting(size, boxes).unsqueeze(0), max_height);
  return to_levels(torch::bmm(heights, narrowed)).view({-1, size, size, 3}).to(torch::kUInt8);
}

}  // namespace proca::training

#include "proca/models/neck.h"

#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "kernels/batch_norm.h"
#include "models/nets/linear_layers.h"
#include "proca/core/error.h"

namespace proca::models {
namespace {

constexpr int64_t kMaxSize = 1 << 20;

[[noreturn]] void refuse(const std::string& layout, const std::string& word) {
  throw InputError(
      fmt::format("neck \"{}\": \"{}\" is none of linear N, batch-norm, relu, elu", layout, word));
}

NeckImpl::Layer parse_layer(const std::string& layout, const std::string& word, int64_t size) {
  using Kind = NeckImpl::Kind;
  if (word == "batch-norm") return {Kind::kBatchNorm, size};
  if (word == "relu") return {Kind::kRelu, size};
  if (word == "elu") return {Kind::kElu, size};
  const std::string prefix = "linear ";
  if (!word.starts_with(prefix)) refuse(layout, word);
  const auto* begin = word.data() + prefix.size();
  const auto* end = word.data() + word.size();
  int64_t number = 0;
  const auto result = std::from_chars(begin, end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 1 || number > kMaxSize) {
    refuse(layout, word);
  }
  return {Kind::kLinear, number};
}

std::vector<std::string> words_of(const std::string& layout) {
  std::vector<std::string> words;
  std::istringstream text(layout);
  for (std::string word; std::getline(text, word, ',');) {
    const auto begin = word.find_first_not_of(' ');
    words.push_back(begin == std::string::npos ? "" : word.substr(begin));
  }
  if (words.empty()) refuse(layout, "");
  return words;
}

}  // namespace

NeckImpl::NeckImpl(int64_t input_size, const std::string& layout, uint64_t seed) : layout_(layout) {
  int64_t size = input_size;
  for (const auto& word : words_of(layout)) {
    const auto layer = parse_layer(layout, word, size);
    const auto name = std::to_string(layers_.size());
    if (layer.kind == Kind::kLinear) {
      register_module(name, make_linear(size, layer.size, {}, seed, "neck " + name));
    } else if (layer.kind == Kind::kBatchNorm) {
      register_module(name, kernels::BatchNorm(size));
    }
    layers_.push_back(layer);
    size = layer.size;
  }
}

torch::Tensor NeckImpl::forward(const torch::Tensor& features, at::IntArrayRef group_sizes) {
  return forward_part(features, 0, layers_.size(), group_sizes);
}

torch::Tensor NeckImpl::forward_part(torch::Tensor features, size_t first, size_t last,
                                     at::IntArrayRef group_sizes) {
  for (size_t i = first; i < last; ++i) {
    const auto name = std::to_string(i);
    switch (layers_[i].kind) {
      case Kind::kLinear:
        features = named_children()[name]->as<torch::nn::LinearImpl>()->forward(features);
        break;
      case Kind::kBatchNorm:
        features = named_children()[name]->as<kernels::BatchNormImpl>()->forward(features,
                                                                                 group_sizes, {});
        break;
      case Kind::kRelu:
        features = torch::relu(features);
        break;
      case Kind::kElu:
        features = torch::elu(features);
        break;
    }
  }
  return features;
}

}  // namespace proca::models

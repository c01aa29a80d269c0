#include "proca/models/classifier_network.h"

#include <cmath>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>

#include "proca/core/error.h"
#include "proca/core/random.h"

namespace proca::models {
namespace {

// A linear layer draws its start from the global generator. One without rows
// draws nothing; it then gets the tensors it should have had.
torch::nn::Linear make_head(int64_t feature_size, int64_t num_classes, uint64_t seed) {
  torch::nn::Linear head(feature_size, 0);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(RandomStream(seed, "head")());
  const double bound = 1.0 / std::sqrt(static_cast<double>(feature_size));
  head->options.out_features(num_classes);
  head->weight.set_data(
      torch::empty({num_classes, feature_size}).uniform_(-bound, bound, generator));
  head->bias.set_data(torch::empty({num_classes}).uniform_(-bound, bound, generator));
  return head;
}

}  // namespace

ClassifierNetworkImpl::ClassifierNetworkImpl(std::shared_ptr<Backbone> backbone,
                                             int64_t num_classes, uint64_t seed)
    : backbone_(std::move(backbone)), head_(nullptr), num_classes_(num_classes) {
  TORCH_CHECK(num_classes > 0, "a classifier needs at least one class");
  for (const auto& child : backbone_->named_children()) {
    if (child.key() == "fc") {
      throw InputError("the backbone has a layer named 'fc', the name of the classifier behind it");
    }
  }
  register_module("backbone", backbone_);
  head_ = register_module("fc", make_head(feature_size(), num_classes, seed));
}

NetworkOutput ClassifierNetworkImpl::forward(const torch::Tensor& images) {
  auto features = backbone_->forward(images);
  auto logits = head_->forward(features);
  return {.features = std::move(features), .logits = std::move(logits)};
}

std::vector<NetworkOutput> ClassifierNetworkImpl::forward_each(
    const std::vector<torch::Tensor>& groups) {
  std::vector<NetworkOutput> outputs;
  for (const auto& images : groups) outputs.push_back(forward(images));
  return outputs;
}

std::map<std::string, torch::Tensor> ClassifierNetworkImpl::state() const {
  std::map<std::string, torch::Tensor> result;
  for (const auto& item : backbone_->named_parameters()) result[item.key()] = item.value();
  for (const auto& item : backbone_->named_buffers()) result[item.key()] = item.value();
  for (const auto& item : head_->named_parameters()) result["fc." + item.key()] = item.value();
  return result;
}

}  // namespace proca::models

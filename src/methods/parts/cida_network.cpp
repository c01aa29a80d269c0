#include "methods/parts/cida_network.h"

#include <fmt/format.h>

#include "models/nets/linear_layers.h"
#include "proca/core/error.h"

namespace proca::methods {
namespace {

constexpr const char* kLayout =
    "linear 256, batch-norm, linear 256, elu, linear 256, linear 256, elu, linear 256";
// Where the parts begin in it.
constexpr size_t kEncoder = 2, kDecoder = 5, kEnd = 8;

/// Evaluation mode within a scope.
class Evaluation {
 public:
  explicit Evaluation(torch::nn::Module& module)
      : module_(module), was_training_(module.is_training()) {
    module_.eval();
  }
  ~Evaluation() { module_.train(was_training_); }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

 private:
  torch::nn::Module& module_;
  bool was_training_;
};

}  // namespace

CidaNetwork::CidaNetwork(models::ClassifierNetwork network, uint64_t seed)
    : network_(std::move(network)), extra_(std::make_shared<torch::nn::Module>()) {
  if (network_->neck().is_empty()) {
    network_->insert_neck(kLayout, seed);
  } else if (network_->neck_layout() != kLayout) {
    throw InputError(fmt::format("cida: the network has the neck \"{}\", not \"{}\"",
                                 network_->neck_layout(), kLayout));
  }
  neck_ = network_->neck();
  head_ = network_->head();
  negative_ = extra_->register_module(
      "negative", models::make_linear(kLatentSize, 1, {}, seed, "negative class"));
  guides_ = extra_->register_parameter("guides", torch::zeros({num_classes(), kLatentSize}));
  extra_->to(device());
}

torch::Tensor CidaNetwork::latents(const torch::Tensor& images) {
  return neck_->forward_part(network_->backbone()->forward(images), 0, kEncoder);
}

torch::Tensor CidaNetwork::latents_behind_frozen_backbone(const torch::Tensor& images) {
  torch::Tensor features;
  {
    const torch::NoGradGuard no_grad;
    const Evaluation evaluation(*network_->backbone());
    features = network_->backbone()->forward(images);
  }
  return neck_->forward_part(features, 0, kEncoder);
}

torch::Tensor CidaNetwork::frozen_latents(const torch::Tensor& images) {
  const torch::NoGradGuard no_grad;
  const Evaluation evaluation(*network_);
  return latents(images);
}

torch::Tensor CidaNetwork::encode(const torch::Tensor& latents) {
  return neck_->forward_part(latents, kEncoder, kDecoder);
}

torch::Tensor CidaNetwork::decode(const torch::Tensor& codes) {
  return neck_->forward_part(codes, kDecoder, kEnd);
}

torch::Tensor CidaNetwork::classify(const torch::Tensor& latents) {
  return head_->forward(latents);
}

torch::Tensor CidaNetwork::classify_with_negative(const torch::Tensor& latents) {
  return torch::cat({classify(latents), negative_->forward(latents)}, 1);
}

std::vector<torch::Tensor> CidaNetwork::coder_parameters() const {
  std::vector<torch::Tensor> parameters;
  for (const auto& item : neck_->named_parameters()) {
    // `2.weight` belongs to layer 2.
    if (std::stoul(item.key()) >= kEncoder) parameters.push_back(item.value());
  }
  return parameters;
}

}  // namespace proca::methods

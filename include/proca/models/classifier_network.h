#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "proca/models/backbone.h"
#include "proca/models/neck.h"

namespace proca::models {

/// The network's output for a batch.
struct NetworkOutput {
  torch::Tensor features;  ///< float [N, D], what the classifier sees
  torch::Tensor logits;    ///< float [N, K]
};

/// Images -> features -> logits: a backbone, the layers that a method may add (the
/// neck), and one linear layer, `fc`.
///
/// Takes float [N, 3, H, W], normalised; channels-last memory is fastest.
class ClassifierNetworkImpl : public torch::nn::Module {
 public:
  /// `fc` starts at PyTorch's default for a linear layer, uniform in
  /// +-1/sqrt(D), drawn from the stream (seed, "head").
  ClassifierNetworkImpl(std::shared_ptr<Backbone> backbone, int64_t num_classes, uint64_t seed);

  NetworkOutput forward(const torch::Tensor& images);
  /// Several groups of images, one output each. In training mode every group has its own
  /// batch-norm statistics and updates the running ones in turn, as if `forward` were
  /// called for each group.
  std::vector<NetworkOutput> forward_each(const std::vector<torch::Tensor>& groups);

  /// Inserts layers between backbone and classifier, and a new classifier after
  /// them, both on the device of the old one and initialised from `seed` as in
  /// PyTorch. There must be no neck yet.
  void insert_neck(const std::string& layout, uint64_t seed);
  /// Null if there is none.
  const Neck& neck() const { return neck_; }
  /// What `insert_neck` was given; empty if there is no neck.
  std::string neck_layout() const { return neck_.is_empty() ? "" : neck_->layout(); }

  /// Of what the classifier sees.
  int64_t feature_size() const;
  int64_t num_classes() const { return num_classes_; }
  const std::shared_ptr<Backbone>& backbone() const { return backbone_; }
  const torch::nn::Linear& head() const { return head_; }

  /// Parameters by part, since they are trained at different rates.
  std::vector<torch::Tensor> backbone_parameters() const { return backbone_->parameters(); }
  std::vector<torch::Tensor> neck_parameters() const;
  std::vector<torch::Tensor> head_parameters() const { return head_->parameters(); }

  /// Every parameter and buffer under its torchvision name (`conv1.weight`,
  /// `layer1.0.bn1.running_mean`, `fc.bias`) or, of the neck, `neck.0.weight`: the
  /// live tensors, not copies.
  std::map<std::string, torch::Tensor> state() const;

 private:
  NetworkOutput after_backbone(const torch::Tensor& outputs, at::IntArrayRef group_sizes);

  std::shared_ptr<Backbone> backbone_;
  Neck neck_{nullptr};
  torch::nn::Linear head_;
  int64_t num_classes_;
};
TORCH_MODULE(ClassifierNetwork);

}  // namespace proca::models

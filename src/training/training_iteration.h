#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "compute/cuda_graph.h"
#include "distributed/gradient_exchange.h"
#include "proca/compute/device.h"
#include "proca/methods/method.h"
#include "proca/models/classifier_network.h"
#include "training/optimizers.h"

namespace proca::training {

/// One iteration of training: losses, backward pass, exchange of gradients, update; once per
/// phase. On a GPU iterations whose tensors often have the same shapes are captured as a CUDA
/// graph and replayed; nothing is copied to the host before `take_means`.
class TrainingIteration {
 public:
  using Batch = methods::AdaptationBatch;
  using Phases = std::vector<std::string>;
  /// How often a shape must have come before it is captured, which takes as long as a few
  /// iterations: not worth it for what comes once per epoch, such as a smaller last batch.
  static constexpr int64_t kCaptureAfter = 8;
  /// The terms of the objective that the optimiser of `phase` minimises.
  using Losses =
      std::function<std::vector<methods::LossTerm>(const Batch& batch, const std::string& phase)>;

  /// With a capturer, `losses` must be a function of its batch and of weights alone
  /// (`Method::supports_cuda_graph`). If the capture fails, training goes on without
  /// graphs, unless the options require them (`--graph on`).
  TrainingIteration(Optimizers optimizers, Losses losses, const compute::ComputeOptions& compute,
                    torch::Device device, std::unique_ptr<compute::CudaGraphCapturer> capturer);

  Optimizers& optimizers() { return optimizers_; }
  const Optimizers& optimizers() const { return optimizers_; }
  /// The same computation on behalf of another owner: captured graphs stay valid.
  void set_losses(Losses losses) { losses_ = std::move(losses); }
  /// For another training of the same weights: optimisers as new, sums empty. Graphs of
  /// shapes that did not come in the last training are dropped, so that memory does not grow
  /// with every shape that ever came.
  void reset();

  /// For weights whose gradients are shared by several ranks.
  void set_exchange(std::unique_ptr<distributed::GradientExchange> exchange) {
    exchange_ = std::move(exchange);
  }

  /// The phases, in order, are names of optimisers; "" is the recipe's.
  void run(Batch batch, double lr_scale, const Phases& phases = {""});

  /// Each term's sum so far, a double scalar on the device, and how many were added.
  struct LossSum {
    torch::Tensor sum;
    int64_t count = 0;
  };
  std::map<std::string, LossSum> sums() const;
  void set_sums(const std::map<std::string, LossSum>& sums);
  /// The mean of each term since the last call. Waits for the device.
  std::map<std::string, double> take_means();

 private:
  // Iterations with tensors of the same shapes.
  struct Shape {
    std::vector<std::string> terms;  // of its losses
    int64_t seen = 0;                // how often
    bool is_recent = false;          // seen since `reset`
    Batch inputs;                    // the graph's static inputs
    std::unique_ptr<compute::CudaGraph> graph;
  };

  void capture(Shape& shape, const Batch& batch, const Phases& phases);
  static void replay(Shape& shape, Batch& batch);
  std::vector<std::string> compute(const Batch& batch, const Phases& phases);
  void minimise(const torch::Tensor& loss, const std::string& phase);
  torch::Tensor& sum_of(const std::string& term);

  Optimizers optimizers_;
  Losses losses_;
  compute::Precision precision_;
  torch::Device device_;
  std::unique_ptr<compute::CudaGraphCapturer> capturer_;
  std::unique_ptr<distributed::GradientExchange> exchange_;
  bool must_capture_;
  std::map<std::string, LossSum> sums_;
  // By type and shape of each tensor of the batch.
  std::map<std::map<std::string, std::vector<int64_t>>, Shape> shapes_;
};

/// If there are other ranks: from here on the network's backbone computes its share of
/// every batch, and the iteration adds the gradients up.
void share_training(TrainingIteration& iteration, const models::ClassifierNetwork& network,
                    const compute::ComputeOptions& compute);

/// The capturer that `--graph` asks for; null for none. Throws `InvalidOption` if graphs are
/// required and not possible; `what` names what is to be captured.
std::unique_ptr<compute::CudaGraphCapturer> cuda_graph_capturer_for(
    const compute::ComputeOptions& compute, torch::Device device, bool supports_cuda_graph,
    const std::string& what);

}  // namespace proca::training

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
#include "training/sgd.h"

namespace proca::training {

/// One iteration of training: losses, gradients, update. On a GPU iterations whose tensors
/// often have the same shapes are recorded and repeated; nothing is read back before
/// `take_means`.
class TrainingIteration {
 public:
  using Tensors = std::vector<torch::Tensor>;
  /// How often a shape must have come before it is recorded, which takes as long as a
  /// few iterations: what comes once an epoch, such as an odd last batch, is not worth it.
  static constexpr int64_t kRecordAfter = 8;
  /// The terms of the objective for some input tensors, of which some may be undefined.
  using Losses = std::function<std::vector<methods::LossTerm>(const Tensors& inputs)>;

  /// `optimizer` must outlive it. With a capturer, `losses` must be a function of its
  /// inputs and of weights alone (`Method::is_repeatable`). If it turns out not to be,
  /// training goes on without recording, unless the options want it (`--graph on`).
  TrainingIteration(Sgd& optimizer, Losses losses, const compute::ComputeOptions& compute,
                    torch::Device device, std::unique_ptr<compute::CudaGraphCapturer> capturer);

  /// The same computation, by another owner: what was recorded still holds.
  void set_losses(Losses losses) { losses_ = std::move(losses); }
  /// Between two trainings of the same weights: sums are empty again, and shapes that did
  /// not come in the last one are forgotten, so that memory does not grow with every shape
  /// that ever came.
  void begin_anew();

  /// Of weights whose gradients other ranks have a part of.
  void set_exchange(std::unique_ptr<distributed::GradientExchange> exchange) {
    exchange_ = std::move(exchange);
  }

  void run(const Tensors& inputs, double lr_scale);

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
  // Iterations of one shape.
  struct Shape {
    std::vector<std::string> terms;  // of its losses
    int64_t seen = 0;                // how often
    bool is_recent = false;          // seen since `begin_anew`
    Tensors inputs;                  // where the recorded work finds them
    std::unique_ptr<compute::CudaGraph> work;
  };

  void repeat(Shape& shape, const Tensors& inputs);
  void record(Shape& shape, const Tensors& inputs);
  std::vector<std::string> compute(const Tensors& inputs);

  Sgd& optimizer_;
  Losses losses_;
  compute::Precision precision_;
  torch::Device device_;
  std::unique_ptr<compute::CudaGraphCapturer> capturer_;
  std::unique_ptr<distributed::GradientExchange> exchange_;
  bool must_record_;
  std::map<std::string, LossSum> sums_;
  std::map<std::vector<int64_t>, Shape> shapes_;
};

/// If there are other ranks: from here on the network's backbone computes its share of
/// every batch, and the iteration adds the gradients up.
void share_training(TrainingIteration& iteration, const models::ClassifierNetwork& network,
                    const compute::ComputeOptions& compute);

/// The capturer that `--graph` asks for; null for none. Throws `InvalidOption` where it
/// must be recorded and cannot; `what` names what is to be recorded.
std::unique_ptr<compute::CudaGraphCapturer> cuda_graph_capturer_for(
    const compute::ComputeOptions& compute, torch::Device device, bool is_repeatable,
    const std::string& what);

}  // namespace proca::training

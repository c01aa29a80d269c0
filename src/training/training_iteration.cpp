#include "training/training_iteration.h"

#include <fmt/format.h>

#include "proca/compute/precision.h"
#include "proca/core/error.h"
#include "proca/core/log.h"

namespace proca::training {

TrainingIteration::TrainingIteration(Optimizers optimizers, Losses losses,
                                     const compute::ComputeOptions& compute, torch::Device device,
                                     std::unique_ptr<compute::CudaGraphCapturer> capturer)
    : optimizers_(std::move(optimizers)),
      losses_(std::move(losses)),
      precision_(compute.precision),
      device_(device),
      capturer_(std::move(capturer)),
      must_capture_(compute.graph == compute::GraphMode::kOn) {}

void TrainingIteration::run(Batch batch, double lr_scale, const Phases& phases) {
  optimizers_.sgd.set_lr_scale(lr_scale);
  std::map<std::string, std::vector<int64_t>> key;
  for (const auto& [name, tensor] : batch.tensors()) {
    auto& type_and_sizes = key[name];
    type_and_sizes = tensor->sizes().vec();
    type_and_sizes.push_back(static_cast<int64_t>(tensor->scalar_type()));
  }
  auto& shape = shapes_[key];
  ++shape.seen;
  shape.is_recent = true;
  const bool is_due = shape.seen > kCaptureAfter && !shape.terms.empty();
  if (capturer_ && is_due && !shape.graph) capture(shape, batch, phases);
  if (shape.graph) {
    replay(shape, batch);
  } else {
    shape.terms = compute(batch, phases);
  }
  for (const auto& name : shape.terms) ++sums_.at(name).count;
}

void TrainingIteration::reset() {
  optimizers_.reset();
  set_sums({});
  std::erase_if(shapes_, [](const auto& entry) { return !entry.second.is_recent; });
  for (auto& [key, shape] : shapes_) shape.is_recent = false;
}

void TrainingIteration::capture(Shape& shape, const Batch& batch, const Phases& phases) {
  shape.inputs = batch;
  for (auto& [name, tensor] : shape.inputs.tensors()) *tensor = tensor->detach().clone();
  optimizers_.sgd.zero_grad();
  try {
    shape.graph = capturer_->capture([this, &shape, phases] { compute(shape.inputs, phases); });
  } catch (const std::exception& error) {
    if (must_capture_) throw;
    log_warning(fmt::format(
        "training goes on without a CUDA graph, which could not be captured: {}", error.what()));
    capturer_.reset();
    shape.inputs = {};
  }
}

void TrainingIteration::replay(Shape& shape, Batch& batch) {
  const auto tensors = batch.tensors();
  for (auto& [name, input] : shape.inputs.tensors()) {
    input->copy_(tensors.at(name)->detach(), /*non_blocking=*/true);
  }
  shape.graph->replay();
}

std::vector<std::string> TrainingIteration::compute(const Batch& batch, const Phases& phases) {
  std::vector<std::string> names;
  for (const auto& phase : phases) {
    const auto terms = [&] {
      const compute::AutocastScope autocast(precision_, device_);
      return losses_(batch, phase);
    }();
    torch::Tensor total;
    for (const auto& term : terms) {
      sum_of(names.emplace_back(term.name)).add_(term.value.detach());
      if (term.weight == 0) continue;  // Logged, not minimised.
      const auto part = term.value * term.weight;
      total = total.defined() ? total + part : part;
    }
    if (total.defined()) minimise(total, phase);
  }
  return names;
}

void TrainingIteration::minimise(const torch::Tensor& loss, const std::string& phase) {
  if (!phase.empty()) {
    optimizers_.own.at(phase).minimise(loss);
    return;
  }
  optimizers_.sgd.zero_grad();
  if (exchange_) exchange_->begin();
  loss.backward();
  if (exchange_) exchange_->finish();
  optimizers_.sgd.step();
}

torch::Tensor& TrainingIteration::sum_of(const std::string& term) {
  auto& sum = sums_[term].sum;
  if (!sum.defined()) sum = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_));
  return sum;
}

std::map<std::string, TrainingIteration::LossSum> TrainingIteration::sums() const {
  std::map<std::string, LossSum> filled;
  for (const auto& [name, sum] : sums_) {
    if (sum.count > 0) filled.emplace(name, sum);
  }
  return filled;
}

void TrainingIteration::set_sums(const std::map<std::string, LossSum>& sums) {
  // In place: captured graphs add to these very tensors.
  for (auto& [name, sum] : sums_) {
    sum.sum.zero_();
    sum.count = 0;
  }
  for (const auto& [name, saved] : sums) {
    sum_of(name).copy_(saved.sum);
    sums_[name].count = saved.count;
  }
}

std::map<std::string, double> TrainingIteration::take_means() {
  const auto taken = sums();
  if (taken.empty()) return {};
  std::vector<torch::Tensor> parts;
  for (const auto& [name, sum] : taken) parts.push_back(sum.sum);
  const auto values = torch::stack(parts).cpu();  // The only synchronisation in an epoch.
  if (exchange_) exchange_->agree();
  std::map<std::string, double> means;
  int64_t index = 0;
  for (const auto& [name, sum] : taken) {
    means[name] = values[index++].item<double>() / static_cast<double>(sum.count);
  }
  set_sums({});
  return means;
}

void share_training(TrainingIteration& iteration, const models::ClassifierNetwork& network,
                    const compute::ComputeOptions& compute) {
  if (!compute.ranks) return;
  if (!network->backbone()->share(compute.ranks)) {
    log_warning("this backbone cannot split a batch: every rank computes all images");
    return;
  }
  iteration.set_exchange(std::make_unique<distributed::GradientExchange>(
      network->backbone_parameters(), compute.ranks));
}

std::unique_ptr<compute::CudaGraphCapturer> cuda_graph_capturer_for(
    const compute::ComputeOptions& compute, torch::Device device, bool supports_cuda_graph,
    const std::string& what) {
  if (compute.graph == compute::GraphMode::kOff) return nullptr;
  const bool must = compute.graph == compute::GraphMode::kOn;
  if (compute.ranks) {
    if (must) throw InvalidOption("--graph on: not possible with several ranks; use auto or off");
    return nullptr;
  }
  if (!supports_cuda_graph) {
    if (must) {
      throw InvalidOption(
          fmt::format("--graph on: iterations of {} cannot be captured as a CUDA graph; "
                      "use auto or off",
                      what));
    }
    return nullptr;
  }
  auto capturer = compute::make_cuda_graph_capturer(device);
  if (must && !capturer) {
    throw InvalidOption(
        "--graph on: needs a CUDA device, a build with CUDA's compiler and LibTorch 2.4 or later; "
        "use auto or off");
  }
  return capturer;
}

}  // namespace proca::training

#include "training/training_iteration.h"

#include <fmt/format.h>

#include "proca/compute/precision.h"
#include "proca/core/error.h"
#include "proca/core/log.h"

namespace proca::training {
namespace {

// Types and shapes, one tensor after the other.
std::vector<int64_t> key_of(const std::vector<torch::Tensor>& tensors) {
  std::vector<int64_t> key;
  for (const auto& tensor : tensors) {
    if (!tensor.defined()) {
      key.push_back(-1);
      continue;
    }
    key.push_back(static_cast<int64_t>(tensor.scalar_type()));
    key.push_back(tensor.dim());
    key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
  }
  return key;
}

}  // namespace

TrainingIteration::TrainingIteration(Sgd& optimizer, Losses losses,
                                     const compute::ComputeOptions& compute, torch::Device device,
                                     std::unique_ptr<compute::CudaGraphCapturer> capturer)
    : optimizer_(optimizer),
      losses_(std::move(losses)),
      precision_(compute.precision),
      device_(device),
      capturer_(std::move(capturer)),
      must_record_(compute.graph == compute::GraphMode::kOn) {}

void TrainingIteration::run(const Tensors& inputs, double lr_scale) {
  optimizer_.set_lr_scale(lr_scale);
  auto& shape = shapes_[key_of(inputs)];
  ++shape.seen;
  shape.is_recent = true;
  const bool is_due = shape.seen > kRecordAfter && !shape.terms.empty();
  if (capturer_ && is_due && !shape.work) record(shape, inputs);
  if (shape.work) {
    repeat(shape, inputs);
  } else {
    shape.terms = compute(inputs);
  }
  for (const auto& name : shape.terms) ++sums_.at(name).count;
}

void TrainingIteration::begin_anew() {
  set_sums({});
  std::erase_if(shapes_, [](const auto& entry) { return !entry.second.is_recent; });
  for (auto& [key, shape] : shapes_) shape.is_recent = false;
}

void TrainingIteration::record(Shape& shape, const Tensors& inputs) {
  shape.inputs.clear();
  for (const auto& input : inputs) {
    shape.inputs.push_back(input.defined() ? input.detach().clone() : torch::Tensor());
  }
  optimizer_.zero_grad();
  try {
    shape.work = capturer_->capture([this, &shape] { compute(shape.inputs); });
  } catch (const std::exception& error) {
    if (must_record_) throw;
    log_warning(fmt::format("training goes on without a graph, which could not be recorded: {}",
                            error.what()));
    capturer_.reset();
    shape.inputs.clear();
  }
}

void TrainingIteration::repeat(Shape& shape, const Tensors& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) shape.inputs[i].copy_(inputs[i].detach(), /*non_blocking=*/true);
  }
  shape.work->replay();
}

std::vector<std::string> TrainingIteration::compute(const Tensors& inputs) {
  const auto terms = [&] {
    const compute::AutocastScope autocast(precision_, device_);
    return losses_(inputs);
  }();
  std::vector<std::string> names;
  torch::Tensor total;
  for (const auto& term : terms) {
    auto& sum = sums_[names.emplace_back(term.name)].sum;
    if (!sum.defined()) sum = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_));
    sum.add_(term.value.detach());
    if (term.weight == 0) continue;  // Watched, not minimised.
    const auto part = term.value * term.weight;
    total = total.defined() ? total + part : part;
  }
  if (!total.defined()) return names;
  optimizer_.zero_grad();
  if (exchange_) exchange_->begin();
  total.backward();
  if (exchange_) exchange_->finish();
  optimizer_.step();
  return names;
}

std::map<std::string, TrainingIteration::LossSum> TrainingIteration::sums() const {
  std::map<std::string, LossSum> filled;
  for (const auto& [name, sum] : sums_) {
    if (sum.count > 0) filled.emplace(name, sum);
  }
  return filled;
}

void TrainingIteration::set_sums(const std::map<std::string, LossSum>& sums) {
  // In place: recorded work adds to these very tensors.
  for (auto& [name, sum] : sums_) {
    sum.sum.zero_();
    sum.count = 0;
  }
  for (const auto& [name, saved] : sums) {
    auto& sum = sums_[name];
    if (!sum.sum.defined()) {
      sum.sum = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_));
    }
    sum.sum.copy_(saved.sum);
    sum.count = saved.count;
  }
}

std::map<std::string, double> TrainingIteration::take_means() {
  const auto taken = sums();
  if (taken.empty()) return {};
  std::vector<torch::Tensor> parts;
  for (const auto& [name, sum] : taken) parts.push_back(sum.sum);
  const auto values = torch::stack(parts).cpu();  // The one time an epoch waits.
  if (exchange_) exchange_->agree();
  std::map<std::string, double> means;
  int64_t place = 0;
  for (const auto& [name, sum] : taken) {
    means[name] = values[place++].item<double>() / static_cast<double>(sum.count);
  }
  set_sums({});
  return means;
}

void share_training(TrainingIteration& iteration, const models::ClassifierNetwork& network,
                    const compute::ComputeOptions& compute) {
  if (!compute.ranks) return;
  if (!network->backbone()->share(compute.ranks)) {
    log_warning("this backbone's images cannot be shared out: every rank computes all of them");
    return;
  }
  iteration.set_exchange(std::make_unique<distributed::GradientExchange>(
      network->backbone_parameters(), compute.ranks));
}

std::unique_ptr<compute::CudaGraphCapturer> cuda_graph_capturer_for(
    const compute::ComputeOptions& compute, torch::Device device, bool is_repeatable,
    const std::string& what) {
  if (compute.graph == compute::GraphMode::kOff) return nullptr;
  const bool must = compute.graph == compute::GraphMode::kOn;
  if (compute.ranks) {
    if (must) throw InvalidOption("--graph on: several ranks cannot record; use auto or off");
    return nullptr;
  }
  if (!is_repeatable) {
    if (must) {
      throw InvalidOption(
          fmt::format("--graph on: iterations of {} differ in more than their images and cannot be "
                      "recorded; use auto or off",
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

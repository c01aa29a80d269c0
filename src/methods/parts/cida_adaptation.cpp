#include "methods/parts/cida_adaptation.h"

#include <cmath>

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "losses/guides.h"
#include "proca/core/error.h"
#include "proca/losses/cross_entropy.h"

namespace proca::methods {

using models::NamedTensors;
namespace {

// Autocast caches narrow copies of weights for a whole iteration, but here they change
// with every phase; and layers this small gain nothing by it.
class FullPrecision {
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autocast_dispatch_keyset};
};

constexpr const char* kApart = "guides-apart";
constexpr const char* kAttraction = "guide-attraction";
constexpr const char* kClasses = "confident-classes";
constexpr const char* kProxyClasses = "proxy-classes";
constexpr const char* kReconstruction = "reconstruction";

}  // namespace

CidaAdaptation::CidaAdaptation(CidaNetwork& network, const CidaAdaptationOptions& options)
    : options_(options), network_(network) {}

std::vector<OptimizerSpec> CidaAdaptation::optimizers() const {
  const auto coders = network_.coder_parameters();
  auto with_guides = coders;
  with_guides.push_back(network_.guides());
  const double lr = options_.adam_lr;
  return {{kApart, with_guides, lr},
          {kAttraction, with_guides, lr},
          {kClasses, coders, lr},
          {kProxyClasses, coders, lr},
          {kReconstruction, coders, lr}};
}

std::vector<std::string> CidaAdaptation::phases(bool is_warm_up) {
  if (is_warm_up) return {kProxyClasses, kReconstruction};
  return {kApart, kAttraction, kClasses, kProxyClasses, kReconstruction};
}

void CidaAdaptation::begin_step() {
  target_latents_.reset();
  confident_.reset();
}

const torch::Tensor& CidaAdaptation::target_latents(const StepContext& context) {
  if (!target_latents_.defined()) {
    std::vector<torch::Tensor> parts;
    context.for_each_target_batch([&](const torch::Tensor& images, const torch::Tensor&) {
      parts.push_back(network_.frozen_latents(images));
    });
    target_latents_ = torch::cat(parts);
  }
  return target_latents_;
}

// A class without a Gaussian has no initial value for its guide.
torch::Tensor CidaAdaptation::guides_of(const adaptation::ClassGaussians& gaussians) {
  return network_.guides().index_select(0, gaussians.classes());
}

torch::Tensor CidaAdaptation::decoded(const torch::Tensor& latents) {
  return network_.decode(network_.encode(latents));
}

torch::Tensor CidaAdaptation::reconstruction_error(const torch::Tensor& latents) {
  return (latents - decoded(latents)).square().sum(1).mean();
}

void CidaAdaptation::begin_epoch(const adaptation::ClassGaussians& gaussians,
                                 const StepContext& context) {
  const torch::NoGradGuard no_grad;
  if (!guides_ready_) {
    network_.guides().copy_(network_.encode(gaussians.means()));
    guides_ready_ = true;
  }
  const auto codes = network_.encode(target_latents(context));
  const auto nearest = losses::guide_similarities(codes, guides_of(gaussians)).amax(1).cpu();
  const auto order = std::get<1>(nearest.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true));
  const double share = options_.confident * static_cast<double>(nearest.size(0));
  const int64_t count = std::llround(std::ceil(share - 1e-9));
  confident_ = torch::zeros({nearest.size(0)}, torch::kBool);
  confident_.index_fill_(0, order.narrow(0, 0, count), true);
}

NamedTensors CidaAdaptation::prepare(const torch::Tensor& target_ids,
                                     const adaptation::ClassGaussians& gaussians,
                                     const StepContext& context) {
  const torch::NoGradGuard no_grad;
  const auto& latents = target_latents(context);
  RandomStream random(context.seed, "proxy source", static_cast<uint64_t>(context.step),
                      static_cast<uint64_t>(context.epoch),
                      static_cast<uint64_t>(context.iteration));
  const auto labels = gaussians.draw_labels(context.batch_size, random);
  NamedTensors inputs = {{"latents", latents.index_select(0, target_ids)},
                         {"proxies", gaussians.sample(labels, random)},
                         {"proxy labels", labels}};
  if (!confident_.defined()) return inputs;  // In the warm-up.
  const auto ids = target_ids.cpu();
  const auto chosen = ids.masked_select(confident_.index_select(0, ids));
  if (chosen.numel() == 0) return inputs;
  const auto confident = latents.index_select(0, chosen.to(network_.device()));
  inputs["confident latents"] = confident;
  inputs["nearest guides"] =
      losses::guide_similarities(network_.encode(confident), guides_of(gaussians)).argmax(1);
  return inputs;
}

std::vector<LossTerm> CidaAdaptation::compute_losses(const AdaptationBatch& batch,
                                                     const adaptation::ClassGaussians& gaussians,
                                                     const std::string& phase) {
  const FullPrecision full_precision;
  const double temperature = options_.guide_temperature;
  if (phase == kApart) {
    return {{kApart, losses::guide_separation_loss(guides_of(gaussians), temperature)}};
  }
  if (phase == kProxyClasses) {
    const auto logits = network_.classify_with_negative(decoded(batch.inputs.at("proxies")));
    return {{kProxyClasses, losses::cross_entropy(logits, batch.inputs.at("proxy labels"))}};
  }
  if (phase == kReconstruction) {
    return {{kReconstruction, reconstruction_error(batch.inputs.at("proxies")) +
                                  reconstruction_error(batch.inputs.at("latents"))}};
  }
  const auto latents = batch.input("confident latents"), nearest = batch.input("nearest guides");
  if (!latents.defined()) return {};
  if (phase == kAttraction) {
    return {{kAttraction, losses::guide_attraction_loss(network_.encode(latents), nearest,
                                                        guides_of(gaussians), temperature)}};
  }
  return {{kClasses, losses::cross_entropy(network_.classify(decoded(latents)),
                                           gaussians.classes().index_select(0, nearest))}};
}

NamedTensors CidaAdaptation::save() const {
  NamedTensors state = {{"guides_ready", torch::tensor({guides_ready_ ? 1 : 0}, torch::kInt64)}};
  if (confident_.defined()) state["confident"] = confident_;
  return state;
}

void CidaAdaptation::load(const NamedTensors& state) {
  const auto ready = state.find("guides_ready");
  if (ready == state.end()) throw InputError("method state: guides_ready is missing");
  guides_ready_ = ready->second.item<int64_t>() != 0;
  const auto confident = state.find("confident");
  confident_ = confident == state.end() ? torch::Tensor() : confident->second;
  target_latents_.reset();
}

}  // namespace proca::methods

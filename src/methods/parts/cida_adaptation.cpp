#include "methods/parts/cida_adaptation.h"

#include <array>
#include <cmath>

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <fmt/format.h>

#include "losses/guides.h"
#include "proca/core/error.h"
#include "proca/losses/cross_entropy.h"

namespace proca::methods {

using models::NamedTensors;
using models::part_of;
using models::put_part;
namespace {

// Autocasting keeps narrow copies of weights for the length of an iteration, but here
// they change with every loss; and layers this small gain nothing by it.
class FullPrecision {
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autocast_dispatch_keyset};
};

// In the order in which they are stepped; those before kProxyClasses move the guides, too.
enum Objective : size_t { kApart, kAttraction, kClasses, kProxyClasses, kReconstruction };
constexpr std::array<std::string_view, 5> kObjectives = {
    "guides-apart", "guide-attraction", "confident-classes", "proxy-classes", "reconstruction"};

}  // namespace

CidaAdaptation::CidaAdaptation(CidaNetwork& network, const CidaAdaptationOptions& options)
    : options_(options), network_(network) {
  const auto coders = network_.coder_parameters();
  auto with_guides = coders;
  with_guides.push_back(network_.guides());
  for (size_t i = 0; i < kObjectives.size(); ++i) {
    adams_.emplace_back(i < kProxyClasses ? with_guides : coders, options.adam_lr);
  }
}

void CidaAdaptation::begin_step() {
  for (auto& adam : adams_) adam.reset();
  target_latents_.reset();
  confident_.reset();
}

const torch::Tensor& CidaAdaptation::target_latents(const StepContext& context) {
  if (!target_latents_.defined()) {
    std::vector<torch::Tensor> parts;
    context.visit_target([&](const torch::Tensor& images, const torch::Tensor&) {
      parts.push_back(network_.frozen_latents(images));
    });
    target_latents_ = torch::cat(parts);
  }
  return target_latents_;
}

// A class without a Gaussian has no place for its guide to start from.
torch::Tensor CidaAdaptation::guides_of(const adaptation::ClassGaussians& gaussians) {
  return network_.guides().index_select(0, gaussians.classes());
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

LossTerm CidaAdaptation::minimise(size_t objective, const torch::Tensor& loss) {
  adams_[objective].minimise(loss);
  return {kObjectives[objective], loss.detach(), /*weight=*/0};
}

std::vector<LossTerm> CidaAdaptation::warm_up(const torch::Tensor& target_ids,
                                              const adaptation::ClassGaussians& gaussians,
                                              const StepContext& context) {
  const FullPrecision full_precision;
  const auto latents = target_latents(context).index_select(0, target_ids);
  RandomStream random(context.seed, "proxy source", static_cast<uint64_t>(context.step),
                      static_cast<uint64_t>(context.epoch),
                      static_cast<uint64_t>(context.iteration));
  const auto labels = gaussians.draw_labels(context.batch_size, random);
  const auto proxies = gaussians.sample(labels, random);
  const auto decoded = [&](const torch::Tensor& u) { return network_.decode(network_.encode(u)); };
  const auto error = [&](const torch::Tensor& u) {
    return (u - decoded(u)).square().sum(1).mean();
  };
  std::vector<LossTerm> terms;
  terms.push_back(
      minimise(kProxyClasses,
               losses::cross_entropy(network_.classify_with_negative(decoded(proxies)), labels)));
  terms.push_back(minimise(kReconstruction, error(proxies) + error(latents)));
  return terms;
}

std::vector<LossTerm> CidaAdaptation::adapt(const torch::Tensor& target_ids,
                                            const adaptation::ClassGaussians& gaussians,
                                            const StepContext& context) {
  const FullPrecision full_precision;
  const double temperature = options_.guide_temperature;
  // How many are chosen must be known on the host in any case.
  const auto ids = target_ids.cpu();
  const auto chosen = ids.masked_select(confident_.index_select(0, ids));
  const auto latents = target_latents(context).index_select(0, chosen.to(network_.device()));
  const auto nearest = [&] {
    const torch::NoGradGuard no_grad;
    return losses::guide_similarities(network_.encode(latents), guides_of(gaussians)).argmax(1);
  }();
  std::vector<LossTerm> terms;
  terms.push_back(
      minimise(kApart, losses::guide_separation_loss(guides_of(gaussians), temperature)));
  if (chosen.numel() > 0) {
    terms.push_back(
        minimise(kAttraction, losses::guide_attraction_loss(network_.encode(latents), nearest,
                                                            guides_of(gaussians), temperature)));
    const auto answers = network_.classify(network_.decode(network_.encode(latents)));
    terms.push_back(minimise(
        kClasses, losses::cross_entropy(answers, gaussians.classes().index_select(0, nearest))));
  }
  for (auto& term : warm_up(target_ids, gaussians, context)) terms.push_back(std::move(term));
  return terms;
}

NamedTensors CidaAdaptation::save() const {
  NamedTensors state = {{"guides_ready", torch::tensor({guides_ready_ ? 1 : 0}, torch::kInt64)}};
  if (confident_.defined()) state["confident"] = confident_;
  for (size_t i = 0; i < adams_.size(); ++i) {
    put_part(state, fmt::format("{}.", kObjectives[i]), adams_[i].state());
  }
  return state;
}

void CidaAdaptation::load(const NamedTensors& state) {
  const auto ready = state.find("guides_ready");
  if (ready == state.end()) throw InputError("method state: guides_ready is missing");
  guides_ready_ = ready->second.item<int64_t>() != 0;
  const auto confident = state.find("confident");
  confident_ = confident == state.end() ? torch::Tensor() : confident->second;
  for (size_t i = 0; i < adams_.size(); ++i) {
    adams_[i].load_state(part_of(state, fmt::format("{}.", kObjectives[i])));
  }
  target_latents_.reset();
}

}  // namespace proca::methods

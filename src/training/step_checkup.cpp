#include "training/step_checkup.h"

#include <fmt/format.h>

#include "adaptation/detection/neighbours.h"
#include "core/scope_timer.h"
#include "proca/core/error.h"

namespace proca::training {
namespace {

using adaptation::StepHealth;
using adaptation::Verdict;

// Of so many images a sample is judged, where the method has not measured the trust itself.
constexpr int64_t kMostJudged = 5000;

// Evenly spread rows; all if there are no more.
torch::Tensor sample_of(const torch::Tensor& rows) {
  const int64_t count = rows.size(0);
  if (count <= kMostJudged) return rows;
  return rows.index_select(0, (torch::arange(kMostJudged) * count).floor_divide(kMostJudged));
}

adaptation::HealthInput health_input(const methods::StepContext& context,
                                     const methods::Method& method,
                                     const methods::Predictions& source) {
  const auto* decisions = method.decisions();
  adaptation::HealthInput result{.source_probabilities = source.probabilities};
  if (decisions != nullptr && decisions->trust) {
    result.labels = decisions->pseudo_labels.labels;
    result.classes = decisions->shared_classes.classes;
    result.trust = *decisions->trust;
    return result;
  }
  const int64_t num_classes = source.probabilities.size(1);
  result.source_probabilities = sample_of(source.probabilities);
  adaptation::DetectionInput input{.probabilities = result.source_probabilities,
                                   .features = sample_of(source.features)};
  const adaptation::DetectionOptions options{.rule = "cluster-mass"};
  input.neighbours = adaptation::nearest_neighbours(input.features, options.neighbours);
  // Whether the source happens to be open in this process must not matter.
  input.source_prior = method.uses_source(context.step) && context.source_prior.defined()
                           ? context.source_prior
                           : torch::full({num_classes}, 1.0 / static_cast<double>(num_classes));
  const auto detected = adaptation::detect_shared_classes(input, options);
  result.labels = decisions != nullptr
                      ? sample_of(decisions->pseudo_labels.labels)
                      : adaptation::label_by_evidence(input.features, detected).labels;
  result.classes = decisions != nullptr ? decisions->shared_classes.classes : detected.classes;
  result.trust = adaptation::measure_trust(input, options, detected, result.labels);
  return result;
}

}  // namespace

void StepCheckup::examine(const methods::StepContext& context, const methods::Method& method) {
  const ScopeTimer timer("examining the step");
  const auto current = context.predict_target(methods::ModelChoice::kCurrent).probabilities;
  auto input = health_input(context, method, context.predict_target(methods::ModelChoice::kSource));
  input.current_probabilities = current;
  health_ = adaptation::judge_step(input);
  health_->images = current.size(0);
  before_ = current.argmax(1);
}

void StepCheckup::conclude(const methods::StepContext& context) {
  if (!health_) return;
  adaptation::add_outcome(*health_, before_,
                          context.predict_target(methods::ModelChoice::kCurrent).probabilities);
}

bool StepCheckup::accepts(methods::OnDoubt on_doubt, int64_t step) const {
  if (!health_ || health_->verdict == Verdict::kGood) return true;
  switch (on_doubt) {
    case methods::OnDoubt::kAdapt:
      return true;
    case methods::OnDoubt::kSkipRefused:
      return health_->verdict != Verdict::kRefused;
    case methods::OnDoubt::kSkip:
      return false;
    case methods::OnDoubt::kStop:
      break;
  }
  throw InputError(fmt::format(
      "step {} is {}: {}; nothing was changed (--on-doubt adapt trains on it all the same)",
      step + 1, adaptation::verdict_word(health_->verdict), health_->reason));
}

models::NamedTensors StepCheckup::save() const {
  if (!health_) return {};
  const auto& health = *health_;
  const auto numbers = torch::tensor(
      {static_cast<double>(health.verdict), health.trust, static_cast<double>(health.images),
       static_cast<double>(health.classes_found), health.agreement, health.confidence_before},
      torch::kFloat64);
  const std::vector<int64_t> letters(health.reason.begin(), health.reason.end());
  return {{"numbers", numbers},
          {"reason", torch::tensor(letters, torch::kInt64).to(torch::kUInt8)},
          {"before", before_}};
}

void StepCheckup::load(const models::NamedTensors& tensors) {
  health_.reset();
  if (tensors.empty()) return;  // A checkpoint of an earlier version.
  const auto& numbers = tensors.at("numbers");
  const auto letters = tensors.at("reason").contiguous();
  before_ = tensors.at("before");
  if (numbers.scalar_type() != torch::kFloat64 || numbers.numel() != 6 ||
      letters.scalar_type() != torch::kUInt8 || before_.scalar_type() != torch::kInt64) {
    throw InputError("the health of the step under way is of another type");
  }
  const auto* value = numbers.data_ptr<double>();
  health_ = StepHealth{
      .verdict = static_cast<Verdict>(static_cast<int>(value[0])),
      .reason = {letters.data_ptr<uint8_t>(), letters.data_ptr<uint8_t>() + letters.numel()},
      .trust = value[1],
      .images = static_cast<int64_t>(value[2]),
      .classes_found = static_cast<int64_t>(value[3]),
      .agreement = value[4],
      .confidence_before = value[5]};
}

}  // namespace proca::training

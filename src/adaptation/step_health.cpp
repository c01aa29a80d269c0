#include "proca/adaptation/step_health.h"

#include <fmt/format.h>

namespace proca::adaptation {
namespace {

constexpr int64_t kFewImages = 8;
constexpr double kRefusedBelow = 0.35;
constexpr double kDoubtfulBelow = 0.6;
constexpr double kOneClassEvidence = 0.5;

double mean_of(const torch::Tensor& values) {
  return values.numel() == 0 ? 0 : values.to(torch::kFloat64).mean().item<double>();
}

double mean_confidence(const torch::Tensor& probabilities) {
  return probabilities.numel() == 0 ? 0 : mean_of(std::get<0>(probabilities.max(1)));
}

std::string images_text(int64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "image" : "images");
}

void set_verdict(StepHealth& health, const HealthInput& input) {
  const bool one_of_many = input.classes.size() == 1 && input.source_probabilities.size(1) > 2;
  if (one_of_many && health.images >= kFewImages && input.trust.evidence < kOneClassEvidence) {
    health.verdict = Verdict::kRefused;
    health.reason = fmt::format(
        "all {} fall into one class, and only {:.0f} % of the evidence is for it: the source model "
        "cannot tell these images apart",
        images_text(health.images), 100 * input.trust.evidence);
  } else if (health.trust < kRefusedBelow) {
    health.verdict = Verdict::kRefused;
    health.reason = fmt::format(
        "only about {:.0f} % of the pseudo-labels can be expected to be right", 100 * health.trust);
  } else if (health.images < kFewImages) {
    health.verdict = Verdict::kDoubtful;
    health.reason =
        fmt::format("{} are too few to tell which classes they show", images_text(health.images));
    if (health.images == 1)
      health.reason = "one image is too little to tell which classes there are";
  } else if (health.trust < kDoubtfulBelow) {
    health.verdict = Verdict::kDoubtful;
    health.reason = fmt::format("about {:.0f} % of the pseudo-labels can be expected to be right",
                                100 * health.trust);
  } else {
    health.reason = fmt::format("about {:.0f} % of the pseudo-labels can be expected to be right",
                                100 * health.trust);
  }
}

}  // namespace

std::string verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "good";
    case Verdict::kDoubtful:
      return "doubtful";
    case Verdict::kRefused:
      return "refused";
  }
  return {};
}

StepHealth judge_step(const HealthInput& input) {
  StepHealth health;
  health.images = input.labels.numel();
  health.classes_found = static_cast<int64_t>(input.classes.size());
  health.trust = input.trust.expected_accuracy();
  health.agreement = mean_of(input.source_probabilities.argmax(1) == input.labels);
  health.confidence_before = mean_confidence(input.current_probabilities);
  set_verdict(health, input);
  return health;
}

void add_outcome(StepHealth& health, const torch::Tensor& before, const torch::Tensor& after) {
  health.confidence_after = mean_confidence(after);
  health.changed = mean_of(before != after.argmax(1));
}

}  // namespace proca::adaptation

#include "proca/adaptation/shared_classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adaptation/detection/detection_rules.h"
#include "adaptation/host_doubles.h"
#include "core/nearest_word.h"
#include "proca/core/error.h"

namespace proca::adaptation {
namespace {

void detect_by_cumulative_probability(const DetectionInput&, const DetectionOptions& options,
                                      SharedClasses& result) {
  result.scores = result.cumulative;
  result.threshold = options.alpha;
  for (size_t k = 0; k < result.scores.size(); ++k) {
    if (result.scores[k] >= options.alpha) result.classes.push_back(static_cast<int64_t>(k));
  }
}

void keep_all(const DetectionInput&, const DetectionOptions&, SharedClasses& result) {
  result.scores = result.cumulative;
  result.classes.resize(result.scores.size());
  std::iota(result.classes.begin(), result.classes.end(), int64_t{0});
}

/// Null if there is no such rule.
const DetectionRule* find_rule(std::string_view name) {
  const auto& rules = detection_rules();
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const DetectionRule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

/// Sum over the images for every class.
std::vector<double> class_sums(const torch::Tensor& probabilities) {
  const auto host = checked_probabilities(probabilities);
  std::vector<double> sums(static_cast<size_t>(host.size(1)), 0.0);
  const auto* value = host.data_ptr<double>();
  // A fixed order of additions: the threads of a library sum would change the last bits.
  for (int64_t image = 0; image < host.size(0); ++image) {
    for (double& sum : sums) sum += *value++;
  }
  return sums;
}

}  // namespace

const std::vector<DetectionRule>& detection_rules() {
  static const std::vector<DetectionRule> rules = {
      {"scd", "cumulative probability of at least alpha", detect_by_cumulative_probability},
      {"hbw", "above the cut with the highest variance between the groups", detect_by_variance},
      {"label-shift", "estimated share of the target above 1/K", detect_by_label_shift},
      {"cluster-mass", "enough of the images when clusters compete for them",
       detect_by_cluster_mass},
      {"none", "all source classes", keep_all},
  };
  return rules;
}

void DetectionOptions::validate() const {
  if (find_rule(rule) == nullptr) {
    std::vector<std::string> known;
    for (const auto& entry : detection_rules()) known.emplace_back(entry.name);
    const auto nearest = nearest_word(rule, known);
    throw InvalidOption(
        fmt::format("unknown detection rule '{}'{}; known are {}", rule,
                    nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest),
                    fmt::join(known, ", ")));
  }
  if (!(alpha >= 0 && alpha <= 1)) {
    throw InvalidOption(fmt::format("alpha {} must be in 0 to 1", alpha));
  }
  if (!(temperature > 0) || !std::isfinite(temperature)) {
    throw InvalidOption(fmt::format("temperature {} must be a finite number above 0", temperature));
  }
  if (!(correction >= 0 && correction <= 1)) {
    throw InvalidOption(fmt::format("correction {} must be in 0 to 1", correction));
  }
  if (neighbours < 0) {
    throw InvalidOption(fmt::format("neighbours {} must be 0 or more", neighbours));
  }
  if (!(candidate_share >= 0 && candidate_share < 1)) {
    throw InvalidOption(fmt::format("candidate share {} must be in 0 to 1", candidate_share));
  }
  if (!(least_mass >= 0 && least_mass < 1)) {
    throw InvalidOption(fmt::format("least mass {} must be in 0 to 1", least_mass));
  }
}

torch::Tensor checked_probabilities(const torch::Tensor& probabilities) {
  auto result = host_doubles(probabilities, "probabilities");
  const auto* values = result.data_ptr<double>();
  for (int64_t i = 0; i < result.numel(); ++i) {
    if (values[i] >= 0) continue;
    throw Error(fmt::format("the probabilities of image {} (counted from 0) hold {}",
                            i / result.size(1), values[i]));
  }
  return result;
}

std::vector<double> min_max_normalised(std::vector<double> values) {
  if (values.empty()) return values;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double smallest = *low;
  const double range = *high - smallest;
  for (double& value : values) value = range > 0 ? (value - smallest) / range : 1.0;
  return values;
}

SharedClasses detect_shared_classes(const DetectionInput& input, const DetectionOptions& options) {
  options.validate();
  const auto& probabilities = input.probabilities;
  TORCH_CHECK(probabilities.dim() == 2 && probabilities.size(1) > 0,
              "detect_shared_classes: probabilities ", probabilities.sizes());
  if (probabilities.size(0) == 0) {
    throw InputError("there is no target image to detect shared classes with");
  }
  SharedClasses result{.sums = class_sums(probabilities)};
  result.cumulative = min_max_normalised(result.sums);
  find_rule(options.rule)->apply(input, options, result);
  if (result.classes.empty()) {
    const auto best = std::max_element(result.scores.begin(), result.scores.end());
    result.classes.push_back(best - result.scores.begin());
  }
  return result;
}

}  // namespace proca::adaptation

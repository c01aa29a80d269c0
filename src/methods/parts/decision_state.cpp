#include "methods/parts/decision_state.h"

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::methods {

torch::Tensor saved_tensor(const models::NamedTensors& tensors, const std::string& name,
                           torch::Dtype type) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.scalar_type() != type) {
    throw InputError(fmt::format("method state: {} is missing or of another type", name));
  }
  return found->second;
}

std::vector<int64_t> images_of_class(const torch::Tensor& labels, int64_t label) {
  return to_vector<int64_t>((labels == label).nonzero().flatten());
}

models::NamedTensors save_decisions(const StepDecisions& decisions) {
  const auto& shared = decisions.shared_classes;
  const auto& pseudo = decisions.pseudo_labels;
  models::NamedTensors state = {
      {"shared.classes", to_tensor(shared.classes)},
      {"shared.sums", to_tensor(shared.sums)},
      {"shared.cumulative", to_tensor(shared.cumulative)},
      {"shared.scores", to_tensor(shared.scores)},
      {"shared.threshold", to_tensor(std::vector<double>{shared.threshold})},
      {"pseudo.labels", pseudo.labels},
      {"pseudo.first_labels", pseudo.first_labels},
      {"pseudo.similarities", pseudo.similarities},
      {"source_prior", decisions.source_prior}};
  if (!shared.dropped_in.empty()) state["shared.dropped_in"] = to_tensor(shared.dropped_in);
  if (const auto& trust = decisions.trust) {
    state["trust"] =
        to_tensor(std::vector<double>{trust->confidence, trust->stability, trust->evidence});
  }
  return state;
}

StepDecisions load_decisions(const models::NamedTensors& tensors,
                             const adaptation::DetectionOptions& detection) {
  const auto integers = [&](const char* name) {
    return saved_tensor(tensors, name, torch::kInt64);
  };
  const auto doubles = [&](const char* name) {
    return saved_tensor(tensors, name, torch::kFloat64);
  };
  StepDecisions decisions;
  decisions.detection = detection;
  auto& shared = decisions.shared_classes;
  shared.classes = to_vector<int64_t>(integers("shared.classes"));
  shared.sums = to_vector<double>(doubles("shared.sums"));
  shared.cumulative = to_vector<double>(doubles("shared.cumulative"));
  shared.scores = to_vector<double>(doubles("shared.scores"));
  shared.threshold = doubles("shared.threshold").item<double>();
  if (tensors.contains("shared.dropped_in")) {
    shared.dropped_in = to_vector<int64_t>(integers("shared.dropped_in"));
  }
  decisions.pseudo_labels = {.labels = integers("pseudo.labels"),
                             .first_labels = integers("pseudo.first_labels"),
                             .similarities = doubles("pseudo.similarities")};
  decisions.source_prior = saved_tensor(tensors, "source_prior", torch::kFloat32);
  if (tensors.contains("trust")) {
    const auto trust = to_vector<double>(doubles("trust"));
    if (trust.size() != 3) throw InputError("method state: trust is not three numbers");
    decisions.trust = adaptation::LabelTrust{trust[0], trust[1], trust[2]};
  }
  return decisions;
}

}  // namespace proca::methods

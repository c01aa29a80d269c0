#include "models/weights/load_weights.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/weights/finite_check.h"
#include "proca/core/error.h"

namespace proca::models {
namespace {

constexpr size_t kMaxListed = 8;
constexpr const char* kHeadWeight = "fc.weight";
constexpr const char* kHeadBias = "fc.bias";

std::string shape_of(const torch::Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

// "missing: a, b", or "missing: a, ..., h and 4 more"; nothing for no names.
void append_list(std::vector<std::string>& parts, const char* what,
                 const std::vector<std::string>& names) {
  if (names.empty()) return;
  const auto listed = std::min(names.size(), kMaxListed);
  auto text = fmt::format(
      "{}: {}", what, fmt::join(names.begin(), names.begin() + static_cast<int64_t>(listed), ", "));
  if (listed < names.size()) text += fmt::format(" and {} more", names.size() - listed);
  parts.push_back(std::move(text));
}

// Why the file's classifier cannot be the network's, or empty if it can (or is
// wrong in a way that is an error like any other).
std::string head_difference(const ClassifierNetwork& network, const WeightFile& file) {
  const auto weight = file.tensors.find(kHeadWeight), bias = file.tensors.find(kHeadBias);
  if (weight == file.tensors.end() && bias == file.tensors.end()) return "it has no classifier";
  if (weight == file.tensors.end() || bias == file.tensors.end()) return {};
  const auto& rows = weight->second;
  if (rows.dim() != 2 || rows.size(1) != network->feature_size() ||
      rows.size(0) == network->num_classes() || !bias->second.sizes().equals({rows.size(0)})) {
    return {};
  }
  return fmt::format("its classifier is for {} classes, not {}, and was left out", rows.size(0),
                     network->num_classes());
}

bool may_be_missing(const std::string& name) { return name.ends_with(".num_batches_tracked"); }

}  // namespace

LoadReport load_weights(ClassifierNetwork& network, const WeightFile& file, HeadPolicy head) {
  LoadReport report;
  if (head == HeadPolicy::kMayDiffer) {
    const auto difference = head_difference(network, file);
    report.head_loaded = difference.empty();
    if (!difference.empty()) report.notice = fmt::format("{}: {}", file.origin, difference);
  }
  const auto skipped = [&](const std::string& name) {
    return !report.head_loaded && (name == kHeadWeight || name == kHeadBias);
  };

  const auto state = network->state();
  std::vector<std::string> missing, unexpected, misshaped;
  for (const auto& [name, live] : state) {
    if (skipped(name)) continue;
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) {
      if (!may_be_missing(name)) missing.push_back(name);
    } else if (!found->second.sizes().equals(live.sizes())) {
      misshaped.push_back(
          fmt::format("{} {} instead of {}", name, shape_of(found->second), shape_of(live)));
    }
  }
  for (const auto& [name, tensor] : file.tensors) {
    if (!state.contains(name)) unexpected.push_back(name);
  }
  std::vector<std::string> problems;
  append_list(problems, "missing", missing);
  append_list(problems, "unexpected", unexpected);
  append_list(problems, "of another shape", misshaped);
  if (!problems.empty()) {
    throw InputError(
        fmt::format("{}: does not fit the network; {}", file.origin, fmt::join(problems, "; ")));
  }

  torch::NoGradGuard no_grad;
  NamedTensors wanted;  // as the network will have them: 1e300 is infinite in float32
  for (const auto& [name, live] : state) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end() || skipped(name)) continue;
    wanted[name] = found->second.to(live.scalar_type());
  }
  check_weights(wanted, file.origin);
  for (const auto& [name, tensor] : wanted) state.at(name).copy_(tensor);
  return report;
}

std::optional<StrideIn> stride_in_of(const WeightFile& file) {
  const struct {
    const char *key, *for_1x1, *for_3x3;
  } spellings[] = {{"stride_in", "1x1", "3x3"}, {"stride_in_1x1", "true", "false"}};
  for (const auto& [key, for_1x1, for_3x3] : spellings) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end()) continue;
    if (found->second == for_1x1) return StrideIn::k1x1;
    if (found->second == for_3x3) return StrideIn::k3x3;
    throw InputError(fmt::format("{}: its metadata has {} = '{}', which is neither '{}' nor '{}'",
                                 file.origin, key, found->second, for_1x1, for_3x3));
  }
  return std::nullopt;
}

int64_t num_classes_of(const WeightFile& file) {
  const auto found = file.tensors.find(kHeadWeight);
  if (found == file.tensors.end()) {
    throw InputError(fmt::format("{}: has no classifier ({})", file.origin, kHeadWeight));
  }
  if (found->second.dim() != 2) {
    throw InputError(fmt::format("{}: {} is {}, not a matrix", file.origin, kHeadWeight,
                                 shape_of(found->second)));
  }
  if (found->second.size(0) == 0) {
    throw InputError(
        fmt::format("{}: its classifier ({}) is for 0 classes", file.origin, kHeadWeight));
  }
  return found->second.size(0);
}

}  // namespace proca::models

#include "methods/parts/prototype_feed.h"

#include <fmt/format.h>

#include "adaptation/schedule.h"
#include "proca/core/error.h"
#include "proca/core/log.h"

namespace proca::methods {
namespace {

// Of prototypes that a GPU holds: those of 2,800 classes of 224 x 224 pixels.
constexpr int64_t kMirrorBytes = int64_t{4} << 30;

}  // namespace

PrototypeFeed::PrototypeFeed(int64_t per_class, int64_t budget_bytes, torch::Device device)
    : per_class_(per_class),
      budget_bytes_(budget_bytes),
      memory_(per_class, budget_bytes),
      mirror_(device, device.is_cuda() ? kMirrorBytes : 0) {}

void PrototypeFeed::check_budget(const std::vector<int64_t>& classes, int64_t num_source_classes,
                                 const StepContext& context) const {
  if (budget_bytes_ == 0) {
    if (memory_.per_class() >= per_class_) return;
    log_warning(fmt::format("the memory holds {} prototypes per class and stays at that, not {}",
                            memory_.per_class(), per_class_));
    return;
  }
  int64_t num_classes = memory_.num_classes();
  for (const int64_t label : classes) {
    if (!memory_.contains(label)) ++num_classes;
  }
  const int64_t bytes =
      context.target_pixels({0}).numel() + num_source_classes * static_cast<int64_t>(sizeof(float));
  if (num_classes * bytes <= budget_bytes_) return;
  throw InputError(
      fmt::format("--memory-budget: {} bytes are too few for one prototype of each of {} classes, "
                  "{} bytes each",
                  budget_bytes_, num_classes, bytes));
}

models::NamedTensors PrototypeFeed::prepare(const StepContext& context) {
  const std::vector<int64_t> key = {context.step, context.epoch, context.num_iterations,
                                    context.batch_size, memory_.size()};
  if (key != order_is_for_) {
    order_ = adaptation::replay_batches(memory_.size(), context.batch_size, context.num_iterations,
                                        context.seed, context.step, context.epoch);
    order_is_for_ = key;
  }
  auto indexes = order_.at(static_cast<size_t>(context.iteration));
  // Batch statistics of a single image may be undefined; of it twice, the means are the same.
  if (indexes.size() == 1) indexes.push_back(indexes.front());
  if (indexes.empty()) return {};
  const auto batch = mirror_.gather(memory_, indexes);
  return {{"replay.images", context.to_input(batch.pixels)},
          {"replay.labels", batch.labels},
          {"replay.soft_labels", batch.soft_labels}};
}

adaptation::ClassPrototypes choose_prototypes(int64_t label, const std::vector<int64_t>& members,
                                              const Predictions& predictions, int64_t per_class,
                                              const adaptation::HerdingOptions& herding,
                                              const StepContext& context) {
  const auto rows = torch::tensor(members, torch::kInt64);
  const auto chosen =
      adaptation::herd(predictions.features.index_select(0, rows), per_class, herding);
  adaptation::ClassPrototypes prototypes;
  prototypes.label = label;
  prototypes.step = context.step;
  if (chosen.empty()) return prototypes;
  auto& ids = prototypes.image_ids;
  for (const int64_t index : chosen) ids.push_back(members[static_cast<size_t>(index)]);
  prototypes.pixels = context.target_pixels(ids);
  prototypes.soft_labels =
      predictions.probabilities.index_select(0, torch::tensor(ids, torch::kInt64));
  return prototypes;
}

}  // namespace proca::methods

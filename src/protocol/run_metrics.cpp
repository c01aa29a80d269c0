#include "protocol/run_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

namespace proca::protocol {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Counts = std::map<int64_t, ClassAccuracy>;  // by label

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Mean of those values that there are.
double mean_of(const std::vector<double>& values) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? kNone : sum / static_cast<double>(count);
}

Counts by_label(std::span<const ClassAccuracy> classes) {
  Counts counts;
  for (const auto& entry : classes) counts[entry.label] = entry;
  return counts;
}

const ClassAccuracy& count_of(const Counts& counts, int64_t label) {
  const auto found = counts.find(label);
  if (found == counts.end()) {
    throw std::invalid_argument("summarise: no counts of class " + std::to_string(label));
  }
  return found->second;
}

// Micro accuracy over some classes.
double accuracy_on(const Counts& counts, const std::vector<int64_t>& labels) {
  Tally tally;
  for (const auto label : labels) {
    const auto& entry = count_of(counts, label);
    tally.num_images += entry.num_images;
    tally.num_correct += entry.num_correct;
  }
  return tally.num_images == 0 ? kNone : tally.accuracy();
}

std::vector<double> group_accuracy(const Counts& counts, const ClassSchedule& schedule) {
  std::vector<double> groups;
  for (const auto& classes : schedule.steps) groups.push_back(accuracy_on(counts, classes));
  return groups;
}

// Macro accuracy over some classes, of each class's accuracy as `rounded` gives it.
template <typename Rounded>
double mean_accuracy_on(const Counts& counts, const std::vector<int64_t>& labels,
                        const Rounded& rounded) {
  std::vector<double> accuracies;
  for (const auto label : labels) {
    const auto& entry = count_of(counts, label);
    if (entry.num_images > 0) accuracies.push_back(rounded(entry.accuracy()));
  }
  return mean_of(accuracies);
}

StepMetrics step_metrics(const ClassSchedule& schedule, int64_t step, const StepRecord& record) {
  const auto counts = by_label(record.classes);
  StepMetrics metrics;
  metrics.accuracy = accuracy_on(counts, schedule.seen_after(step));
  metrics.s1_accuracy =
      mean_accuracy_on(counts, schedule.first_classes, [](double accuracy) { return accuracy; });
  // As numpy rounds: a tie goes to the even digit.
  metrics.s1_accuracy_rounded =
      mean_accuracy_on(counts, schedule.first_classes,
                       [](double accuracy) { return std::nearbyint(accuracy * 1000) / 1000; });
  metrics.group_accuracy = group_accuracy(counts, schedule);
  metrics.detection = record.detection;
  metrics.pseudo_labels = record.pseudo_labels;
  return metrics;
}

// Forgetting and backward transfer are means over the groups before the last step.
void compare_with_earlier_steps(RunMetrics& run) {
  const size_t last = run.steps.size() - 1;
  std::vector<double> forgotten, gained;
  for (size_t group = 0; group < last; ++group) {
    const double now = run.steps[last].group_accuracy[group];
    double best = run.steps[group].group_accuracy[group];
    gained.push_back(now - best);
    for (size_t step = group; step < last; ++step) {
      best = std::max(best, run.steps[step].group_accuracy[group]);
    }
    forgotten.push_back(best - now);
  }
  if (last == 0) return;
  run.forgetting = mean_of(forgotten);
  run.backward_transfer = mean_of(gained);
}

void pool_detection_and_pseudo_labels(RunMetrics& run) {
  std::vector<double> recalls, precisions;
  Tally pseudo_labels;
  for (const auto& step : run.steps) {
    if (step.detection) {
      recalls.push_back(step.detection->recall());
      precisions.push_back(step.detection->precision());
    }
    if (step.pseudo_labels) {
      pseudo_labels.num_images += step.pseudo_labels->num_images;
      pseudo_labels.num_correct += step.pseudo_labels->num_correct;
    }
  }
  if (!recalls.empty()) {
    run.mean_recall = mean_of(recalls);
    run.mean_precision = mean_of(precisions);
  }
  if (pseudo_labels.num_images > 0) run.pseudo_label_accuracy = pseudo_labels.accuracy();
}

}  // namespace

double DetectionQuality::recall() const { return share(num_right, num_present); }
double DetectionQuality::precision() const { return share(num_right, num_detected); }

DetectionQuality measure_detection(std::span<const int64_t> detected,
                                   std::span<const int64_t> present) {
  const std::set<int64_t> found(detected.begin(), detected.end());
  const std::set<int64_t> there(present.begin(), present.end());
  DetectionQuality quality;
  quality.num_detected = static_cast<int64_t>(found.size());
  quality.num_present = static_cast<int64_t>(there.size());
  quality.num_right =
      std::count_if(found.begin(), found.end(), [&](auto label) { return there.contains(label); });
  return quality;
}

RunMetrics summarise(const ClassSchedule& schedule, std::span<const ClassAccuracy> source,
                     std::span<const StepRecord> steps) {
  if (steps.empty() || steps.size() > schedule.steps.size()) {
    throw std::invalid_argument("summarise: needs one step, and no more than the schedule has");
  }
  RunMetrics run;
  run.source_group_accuracy = group_accuracy(by_label(source), schedule);
  std::vector<double> accuracies, s1_accuracies;
  for (size_t step = 0; step < steps.size(); ++step) {
    auto metrics = step_metrics(schedule, static_cast<int64_t>(step), steps[step]);
    const double first = step == 0 ? metrics.s1_accuracy : run.steps.front().s1_accuracy;
    metrics.accuracy_drop = first - metrics.s1_accuracy;
    metrics.relative_accuracy_drop = first > 0 ? metrics.accuracy_drop / first : 0;
    accuracies.push_back(metrics.accuracy);
    s1_accuracies.push_back(metrics.s1_accuracy);
    run.steps.push_back(std::move(metrics));
  }
  run.final_accuracy = accuracies.back();
  run.mean_accuracy = mean_of(accuracies);
  run.final_s1_accuracy = s1_accuracies.back();
  run.mean_s1_accuracy = mean_of(s1_accuracies);
  compare_with_earlier_steps(run);
  pool_detection_and_pseudo_labels(run);
  return run;
}

MeanStd mean_std(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("mean_std: needs a value");
  MeanStd result;
  for (const double value : values) result.mean += value;
  result.mean /= static_cast<double>(values.size());
  if (values.size() == 1) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.std = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return result;
}

}  // namespace proca::protocol

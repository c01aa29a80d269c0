#include "proca/protocol/metrics.h"

#include <map>
#include <stdexcept>
#include <utility>

namespace proca::protocol {

double AccuracyReport::mean_class_accuracy() const {
  double sum = 0;
  for (const auto& entry : classes) sum += entry.accuracy();
  return sum / static_cast<double>(classes.size());
}

AccuracyReport measure_accuracy(std::span<const int64_t> predictions,
                                std::span<const int64_t> labels, int64_t num_classes) {
  if (predictions.size() != labels.size() || labels.empty()) {
    throw std::invalid_argument("measure_accuracy: needs as many predictions as labels, and one");
  }
  std::vector<ClassAccuracy> by_label(static_cast<size_t>(num_classes));
  std::map<std::pair<int64_t, int64_t>, int64_t> pairs;
  AccuracyReport report;
  report.num_images = static_cast<int64_t>(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    auto& entry = by_label.at(static_cast<size_t>(labels[i]));
    ++entry.num_images;
    ++pairs[{labels[i], predictions[i]}];
    if (predictions[i] != labels[i]) continue;
    ++entry.num_correct;
    ++report.num_correct;
  }
  for (int64_t label = 0; label < num_classes; ++label) {
    auto& entry = by_label[static_cast<size_t>(label)];
    entry.label = label;
    if (entry.num_images > 0) report.classes.push_back(entry);
  }
  for (const auto& [pair, count] : pairs) {
    report.confusion.push_back({pair.first, pair.second, count});
  }
  return report;
}

}  // namespace proca::protocol

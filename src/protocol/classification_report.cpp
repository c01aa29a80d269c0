#include "protocol/classification_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

#include "core/files/csv.h"

namespace proca::protocol {
namespace {

constexpr int64_t kNumBins = 15;

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void ClassificationReport::add(int64_t label, std::span<const float> probabilities) {
  if (std::ssize(probabilities) != num_classes_ || label < 0 || label >= num_classes_) {
    throw std::invalid_argument("ClassificationReport: needs a label and a value per class");
  }
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  const float own = probabilities[static_cast<size_t>(label)];
  labels_.push_back(label);
  predictions_.push_back(best - probabilities.begin());
  confidences_.push_back(*best);
  // Of equal ones the first counts as the more probable, as in the prediction.
  int64_t rank = 0;
  for (int64_t i = 0; i < num_classes_; ++i) {
    const float other = probabilities[static_cast<size_t>(i)];
    if (other > own || (other == own && i < label)) ++rank;
  }
  ranks_.push_back(rank);
}

double ClassificationReport::top(int64_t k) const {
  return share(std::count_if(ranks_.begin(), ranks_.end(), [k](int64_t rank) { return rank < k; }),
               num_images());
}

std::vector<ClassScores> ClassificationReport::class_scores() const {
  const auto size = static_cast<size_t>(num_classes_);
  std::vector<int64_t> present(size), predicted(size), right(size);
  for (size_t i = 0; i < labels_.size(); ++i) {
    ++present[static_cast<size_t>(labels_[i])];
    ++predicted[static_cast<size_t>(predictions_[i])];
    if (labels_[i] == predictions_[i]) ++right[static_cast<size_t>(labels_[i])];
  }
  std::vector<ClassScores> scores(size);
  for (size_t label = 0; label < size; ++label) {
    scores[label] = {share(right[label], predicted[label]), share(right[label], present[label]),
                     share(2 * right[label], predicted[label] + present[label])};
  }
  return scores;
}

double ClassificationReport::macro_f1() const {
  const auto scores = class_scores();
  const auto occurring = accuracy().classes;
  double sum = 0;
  for (const auto& entry : occurring) sum += scores[static_cast<size_t>(entry.label)].f1;
  return sum / static_cast<double>(occurring.size());
}

double ClassificationReport::calibration_error() const {
  struct Bin {
    double confidence = 0;
    int64_t right = 0;
    int64_t images = 0;
  };
  std::array<Bin, kNumBins> bins;
  for (size_t i = 0; i < labels_.size(); ++i) {
    const auto place = static_cast<int64_t>(confidences_[i] * static_cast<double>(kNumBins));
    auto& bin = bins[static_cast<size_t>(std::clamp<int64_t>(place, 0, kNumBins - 1))];
    bin.confidence += confidences_[i];
    bin.right += labels_[i] == predictions_[i] ? 1 : 0;
    ++bin.images;
  }
  double error = 0;
  for (const auto& bin : bins) error += std::abs(bin.confidence - static_cast<double>(bin.right));
  return error / static_cast<double>(num_images());
}

std::string confusion_csv(const AccuracyReport& report, const std::vector<std::string>& names) {
  std::map<int64_t, std::map<int64_t, int64_t>> rows;
  for (const auto& entry : report.confusion) rows[entry.label][entry.predicted] = entry.num_images;
  std::string text = "true class";
  for (const auto& name : names) text += "," + csv_field(name);
  text += '\n';
  for (const auto& [label, row] : rows) {
    text += csv_field(names.at(static_cast<size_t>(label)));
    for (size_t predicted = 0; predicted < names.size(); ++predicted) {
      const auto count = row.find(static_cast<int64_t>(predicted));
      text += "," + std::to_string(count == row.end() ? 0 : count->second);
    }
    text += '\n';
  }
  return text;
}

}  // namespace proca::protocol

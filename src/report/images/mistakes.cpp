#include "report/images/mistakes.h"

#include <algorithm>
#include <map>

#include "core/parallel.h"

namespace proca::report {
namespace {

constexpr size_t kMostOfPair = 12;

struct Pair {
  int64_t label = 0, predicted = 0;
  std::vector<const LabelledPrediction*> images;
  size_t num_shown = 0;
};

// The most frequent mistake first.
std::vector<Pair> wrong_pairs(const std::vector<LabelledPrediction>& predictions) {
  std::map<std::pair<int64_t, int64_t>, Pair> by_labels;
  for (const auto& image : predictions) {
    if (image.label == image.predicted) continue;
    auto& pair = by_labels[{image.label, image.predicted}];
    pair.label = image.label;
    pair.predicted = image.predicted;
    pair.images.push_back(&image);
  }
  std::vector<Pair> pairs;
  for (auto& [labels, pair] : by_labels) pairs.push_back(std::move(pair));
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.images.size() > b.images.size(); });
  return pairs;
}

void share_out(std::vector<Pair>& pairs, int64_t most) {
  for (size_t round = 0; round < kMostOfPair; ++round) {
    for (auto& pair : pairs) {
      if (most <= 0) return;
      if (pair.images.size() <= round) continue;
      ++pair.num_shown;
      --most;
    }
  }
}

}  // namespace

Json mistakes_json(const std::vector<LabelledPrediction>& predictions, const ImageSet* images,
                   int64_t most) {
  auto pairs = wrong_pairs(predictions);
  share_out(pairs, most);
  std::vector<Json> shown;
  std::vector<std::string> names;
  for (const auto& pair : pairs) {
    for (size_t i = 0; i < pair.num_shown; ++i) names.push_back(pair.images[i]->name);
  }
  shown.resize(names.size());
  parallel_for(static_cast<int64_t>(names.size()), available_cores(), [&](int64_t i) {
    const auto& name = names[static_cast<size_t>(i)];
    auto& json = shown[static_cast<size_t>(i)];
    json = {{"path", name}};
    const auto index = images != nullptr ? images->find(name) : std::nullopt;
    auto url = index ? images->thumbnail(*index) : std::string();
    if (!url.empty()) json["src"] = std::move(url);
  });
  auto mistakes = Json::array();
  size_t next = 0;
  for (const auto& pair : pairs) {
    if (pair.num_shown == 0) continue;
    Json group = {{"label", pair.label}, {"predicted", pair.predicted}, {"images", Json::array()}};
    for (size_t i = 0; i < pair.num_shown; ++i) group["images"].push_back(std::move(shown[next++]));
    mistakes.push_back(std::move(group));
  }
  return mistakes;
}

}  // namespace proca::report

#include "report/collect/pictures.h"

#include <algorithm>
#include <cmath>

#include "report/collect/embedding.h"

namespace proca::report {
namespace {

// Only relative places matter: four digits of them are enough.
Json rounded(const std::vector<float>& values, double extent) {
  auto list = Json::array();
  for (const float value : values) {
    list.push_back(extent > 0 ? std::round(static_cast<double>(value) / extent * 1e4) / 1e4 : 0);
  }
  return list;
}

}  // namespace

Json embedding_json(const state::FeatureRecord& record, Detail::Pictures kind) {
  const auto& features = record.features;
  const std::span<const float> rows(features.data_ptr<float>(),
                                    static_cast<size_t>(features.numel()));
  const bool by_tsne = kind == Detail::Pictures::kTsne;
  const auto places =
      by_tsne ? tsne(rows, features.size(1)) : first_components(rows, features.size(1));
  double extent = 0;
  for (const auto* values : {&places.x, &places.y}) {
    for (const float value : *values) extent = std::max(extent, std::abs(double{value}));
  }
  Json points = {
      {"x", rounded(places.x, extent)}, {"y", rounded(places.y, extent)}, {"kind", record.kinds}};
  if (!record.labels.empty()) points["label"] = record.labels;
  points["pseudo"] = record.pseudo_labels;
  points["predicted"] = record.predicted;
  return {{"method", by_tsne ? "t-SNE" : "PCA"},
          {"kinds", {"target", "prototype", "source centre"}},
          {"points", std::move(points)}};
}

}  // namespace proca::report

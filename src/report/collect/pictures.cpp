#include "report/collect/pictures.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
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

Json embedding_json(const Plane& places, const state::FeatureRecord& features, const char* method) {
  double extent = 0;
  for (const auto* values : {&places.x, &places.y}) {
    for (const float value : *values) extent = std::max(extent, std::abs(double{value}));
  }
  Json points = {
      {"x", rounded(places.x, extent)}, {"y", rounded(places.y, extent)}, {"kind", features.kinds}};
  if (!features.labels.empty()) points["label"] = features.labels;
  points["pseudo"] = features.pseudo_labels;
  points["predicted"] = features.predicted;
  return {{"method", method},
          {"kinds", {"target", "prototype", "source centre"}},
          {"points", std::move(points)}};
}

}  // namespace

void draw_pictures(const std::vector<PendingPicture>& pictures, const Detail& detail,
                   Json& document) {
  const bool by_tsne = detail.pictures == Detail::Pictures::kTsne;
  std::vector<Plane> places(pictures.size());
  const auto count = static_cast<int64_t>(pictures.size());
  parallel_for(count, available_cores(), [&](int64_t i) {
    const auto& features = pictures[static_cast<size_t>(i)].features.features;
    const std::span<const float> points(features.data_ptr<float>(),
                                        static_cast<size_t>(features.numel()));
    places[static_cast<size_t>(i)] =
        by_tsne ? tsne(points, features.size(1)) : first_components(points, features.size(1));
  });
  for (size_t i = 0; i < pictures.size(); ++i) {
    document[pictures[i].place]["embedding"] =
        embedding_json(places[i], pictures[i].features, by_tsne ? "t-SNE" : "PCA");
  }
}

}  // namespace proca::report

#include "report/images/strips.h"

#include <algorithm>

namespace proca::report {
namespace {

// At most `kStripImages` of the numbers below `count`, evenly spread.
std::vector<size_t> spread(size_t count) {
  const auto shown = std::min(count, static_cast<size_t>(kStripImages));
  std::vector<size_t> numbers;
  for (size_t i = 0; i < shown; ++i) numbers.push_back(i * count / shown);
  return numbers;
}

void add_image(Json& strip, const ImageSet& images, int64_t index, const char* key, int64_t label) {
  auto url = images.thumbnail(index);
  if (url.empty()) return;
  const auto& sample = images.listing().samples[static_cast<size_t>(index)];
  strip.push_back({{"src", std::move(url)}, {"path", sample.path}, {key, label}});
}

}  // namespace

Json labelled_strip(const ImageSet& images, const std::vector<int64_t>& classes) {
  std::map<int64_t, int64_t> first;  // index by label
  int64_t index = 0;
  for (const auto& sample : images.listing().samples) first.emplace(sample.label, index++);
  auto strip = Json::array();
  for (const size_t i : spread(classes.size())) {
    const auto found = first.find(classes[i]);
    if (found != first.end()) add_image(strip, images, found->second, "label", found->first);
  }
  return strip;
}

Json unlabelled_strip(const ImageSet& images, const std::map<std::string, int64_t>& pseudo_labels) {
  const auto& samples = images.listing().samples;
  auto strip = Json::array();
  for (const size_t i : spread(samples.size())) {
    const auto found = pseudo_labels.find(samples[i].path);
    const int64_t label = found == pseudo_labels.end() ? data::kNoLabel : found->second;
    add_image(strip, images, static_cast<int64_t>(i), "pseudo", label);
  }
  return strip;
}

}  // namespace proca::report

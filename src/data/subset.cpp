#include "proca/data/subset.h"

#include <algorithm>
#include <cmath>

#include "proca/core/random.h"

namespace proca::data {
namespace {

class SubsetImages final : public ImageSource {
 public:
  SubsetImages(std::shared_ptr<const ImageSource> source, std::vector<int64_t> indexes)
      : source_(std::move(source)), indexes_(std::move(indexes)) {
    const auto& whole = source_->listing();
    listing_.origin = whole.origin;
    listing_.class_names = whole.class_names;
    listing_.label_meaning = whole.label_meaning;
    for (const int64_t index : indexes_) {
      listing_.samples.push_back(whole.samples.at(static_cast<size_t>(index)));
    }
  }
  Image read(int64_t index) const override {
    return source_->read(indexes_[static_cast<size_t>(index)]);
  }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    return source_->read_encoded(indexes_[static_cast<size_t>(index)]);
  }

 private:
  std::shared_ptr<const ImageSource> source_;
  std::vector<int64_t> indexes_;
};

}  // namespace

std::unique_ptr<ImageSource> subset(std::shared_ptr<const ImageSource> source,
                                    std::vector<int64_t> indexes) {
  return std::make_unique<SubsetImages>(std::move(source), std::move(indexes));
}

Split stratified_split(const ImageListing& listing, double fraction, uint64_t seed) {
  std::vector<std::vector<int64_t>> by_class(listing.class_names.size());
  for (int64_t i = 0; i < listing.size(); ++i) {
    by_class.at(static_cast<size_t>(listing.samples[static_cast<size_t>(i)].label)).push_back(i);
  }
  Split split;
  for (size_t label = 0; label < by_class.size(); ++label) {
    const auto& members = by_class[label];
    const auto count = static_cast<int64_t>(members.size());
    if (count == 0) continue;
    const int64_t kept_back =
        std::min<int64_t>(std::lround(fraction * static_cast<double>(count)), count - 1);
    RandomStream random(seed, "holdout", label);
    const auto order = random_permutation(count, random);
    for (int64_t i = 0; i < count; ++i) {
      auto& part = i < kept_back ? split.holdout : split.training;
      part.push_back(members[static_cast<size_t>(order[static_cast<size_t>(i)])]);
    }
  }
  std::sort(split.training.begin(), split.training.end());
  std::sort(split.holdout.begin(), split.holdout.end());
  return split;
}

}  // namespace proca::data

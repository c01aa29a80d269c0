#include "data/source/subset.h"

#include <algorithm>
#include <cmath>

#include "proca/core/error.h"
#include "proca/core/random.h"
#include "proca/data/crop.h"

namespace proca::data {
namespace {

// Images picked from other sources, with a listing of their own.
class PickedImages final : public ImageSource {
 public:
  struct Place {
    std::shared_ptr<const ImageSource> source;
    int64_t index = 0;
  };
  PickedImages(ImageListing listing, std::vector<Place> places) : places_(std::move(places)) {
    listing_ = std::move(listing);
  }
  Image read(int64_t index) const override {
    const auto& [source, place] = places_[static_cast<size_t>(index)];
    return source->read(place);
  }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    const auto& [source, place] = places_[static_cast<size_t>(index)];
    return source->read_encoded(place);
  }
  bool is_in_memory() const override {
    return std::all_of(places_.begin(), places_.end(),
                       [](const Place& place) { return place.source->is_in_memory(); });
  }

 private:
  std::vector<Place> places_;
};

class StoredImages final : public ImageSource {
 public:
  explicit StoredImages(std::shared_ptr<const ImageStore> store) : store_(std::move(store)) {
    listing_.origin = store_->origin();
    listing_.class_names = store_->class_names();
    for (int64_t i = 0; i < store_->size(); ++i) listing_.samples.push_back(store_->sample(i));
  }
  Image read(int64_t index) const override {
    Image scratch;
    const auto view = store_->load(index, scratch);
    Image image = Image::black(view.width, view.height);
    copy_crop(view, {0, 0, view.width, view.height}, Flip::kNone, image.pixels);
    return image;
  }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    throw InputError(store_->sample(index).path + ": is stored as pixels, not as a file");
  }
  bool is_in_memory() const override { return store_->is_cached(); }

 private:
  std::shared_ptr<const ImageStore> store_;
};

}  // namespace

std::unique_ptr<ImageSource> without_labels(
    const std::vector<std::shared_ptr<const ImageSource>>& sources) {
  ImageListing listing;
  std::vector<PickedImages::Place> places;
  for (const auto& source : sources) {
    listing.origin += (listing.origin.empty() ? "" : ", ") + source->listing().origin;
    for (int64_t i = 0; i < source->listing().size(); ++i) {
      listing.samples.push_back({source->listing().samples[static_cast<size_t>(i)].path, kNoLabel});
      places.push_back({source, i});
    }
  }
  return std::make_unique<PickedImages>(std::move(listing), std::move(places));
}

std::unique_ptr<ImageSource> stored_images(std::shared_ptr<const ImageStore> store) {
  return std::make_unique<StoredImages>(std::move(store));
}

std::unique_ptr<ImageSource> subset(const std::shared_ptr<const ImageSource>& source,
                                    const std::vector<int64_t>& indexes) {
  const auto& whole = source->listing();
  ImageListing listing{.origin = whole.origin,
                       .samples = {},
                       .class_names = whole.class_names,
                       .label_meaning = whole.label_meaning,
                       .unsupported = whole.unsupported,
                       .unknown_classes = whole.unknown_classes};
  std::vector<PickedImages::Place> places;
  for (const int64_t index : indexes) {
    listing.samples.push_back(whole.samples.at(static_cast<size_t>(index)));
    places.push_back({source, index});
  }
  return std::make_unique<PickedImages>(std::move(listing), std::move(places));
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
    const int64_t num_holdout =
        std::min<int64_t>(std::lround(fraction * static_cast<double>(count)), count - 1);
    RandomStream random(seed, "holdout", label);
    const auto order = random_permutation(count, random);
    for (int64_t i = 0; i < count; ++i) {
      auto& part = i < num_holdout ? split.holdout : split.training;
      part.push_back(members[static_cast<size_t>(order[static_cast<size_t>(i)])]);
    }
  }
  std::sort(split.training.begin(), split.training.end());
  std::sort(split.holdout.begin(), split.holdout.end());
  return split;
}

}  // namespace proca::data

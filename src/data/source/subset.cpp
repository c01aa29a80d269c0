#include "data/source/subset.h"

#include <algorithm>
#include <cmath>

#include "proca/core/error.h"
#include "proca/core/random.h"
#include "proca/data/crop.h"

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
  bool is_in_memory() const override { return source_->is_in_memory(); }

 private:
  std::shared_ptr<const ImageSource> source_;
  std::vector<int64_t> indexes_;
};

class UnlabelledImages final : public ImageSource {
 public:
  explicit UnlabelledImages(std::shared_ptr<const ImageSource> source)
      : source_(std::move(source)) {
    listing_.origin = source_->listing().origin;
    for (const auto& sample : source_->listing().samples) {
      listing_.samples.push_back({.path = sample.path, .label = kNoLabel});
    }
  }
  Image read(int64_t index) const override { return source_->read(index); }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    return source_->read_encoded(index);
  }
  bool is_in_memory() const override { return source_->is_in_memory(); }

 private:
  std::shared_ptr<const ImageSource> source_;
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
    return crop(view, 0, 0, view.width, view.height);
  }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    throw InputError(store_->sample(index).path + ": is kept as pixels, not as a file");
  }
  bool is_in_memory() const override { return store_->is_cached(); }

 private:
  std::shared_ptr<const ImageStore> store_;
};

}  // namespace

std::unique_ptr<ImageSource> without_labels(std::shared_ptr<const ImageSource> source) {
  return std::make_unique<UnlabelledImages>(std::move(source));
}

std::unique_ptr<ImageSource> stored_images(std::shared_ptr<const ImageStore> store) {
  return std::make_unique<StoredImages>(std::move(store));
}

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

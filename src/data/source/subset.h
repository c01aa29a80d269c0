#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proca/data/image_source.h"
#include "proca/data/image_store.h"

namespace proca::data {

/// Some of the images of a source, in the given order.
/// Labels and class names are kept.
std::unique_ptr<ImageSource> subset(const std::shared_ptr<const ImageSource>& source,
                                    const std::vector<int64_t>& indexes);

/// The images of one or several sources, one source after the other, without their labels:
/// what adaptation may see of data whose labels are known for evaluation. Paths are kept.
std::unique_ptr<ImageSource> without_labels(
    const std::vector<std::shared_ptr<const ImageSource>>& sources);

/// The images of a store as a source, at the store's size. What the store has cached is not
/// decoded again.
std::unique_ptr<ImageSource> stored_images(std::shared_ptr<const ImageStore> store);

/// Images to train with and images held out.
struct Split {
  std::vector<int64_t> training;
  std::vector<int64_t> holdout;
};

/// Holds out `fraction` of every class, chosen at random by `seed`: the count
/// per class is rounded to the nearest whole number, but at least one image
/// stays for training. Both parts are in the order of the listing, which must
/// be labelled.
Split stratified_split(const ImageListing& listing, double fraction, uint64_t seed);

}  // namespace proca::data

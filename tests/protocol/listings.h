#pragma once

#include <string>
#include <vector>

#include "proca/data/image_source.h"

namespace proca::test {

/// A listing with one image per class.
inline data::ImageListing listing_of(std::vector<std::string> class_names,
                                     data::LabelMeaning meaning = data::LabelMeaning::kName) {
  data::ImageListing listing;
  listing.origin = "data/source";
  listing.label_meaning = meaning;
  for (size_t label = 0; label < class_names.size(); ++label) {
    listing.samples.push_back({class_names[label] + "/1.png", static_cast<int64_t>(label)});
  }
  listing.class_names = std::move(class_names);
  return listing;
}

/// A list file with labels 0 to `num_classes` - 1 whose classes have no names.
inline data::ImageListing numbered_listing(int64_t num_classes) {
  std::vector<std::string> names;
  for (int64_t label = 0; label < num_classes; ++label) names.push_back(std::to_string(label));
  return listing_of(std::move(names), data::LabelMeaning::kNumber);
}

}  // namespace proca::test

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/read_json.h"
#include "report/images/image_set.h"

namespace proca::report {

/// What a network made of one labelled image.
struct LabelledPrediction {
  std::string name;
  int64_t label = 0;
  int64_t predicted = 0;
};

/// The images behind the mistakes, `mistakes` in docs/formats/report_data.md: of every pair of true
/// and predicted class at most 12 images, and at most `most` in all, so that every pair has one
/// before any has two. With pictures if `images` has them; it may be null.
Json mistakes_json(const std::vector<LabelledPrediction>& predictions, const ImageSet* images,
                   int64_t most);

}  // namespace proca::report

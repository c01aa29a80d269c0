#pragma once

#include <vector>

#include "core/files/read_json.h"
#include "proca/state/feature_record.h"
#include "report/collect/detail.h"

namespace proca::report {

/// A picture that is still to be drawn, and where in the document it belongs.
struct PendingPicture {
  Json::json_pointer place;  ///< of the step
  state::FeatureRecord features;
};

/// Draws all pictures at once and puts them into the document.
void draw_pictures(const std::vector<PendingPicture>& pictures, const Detail& detail,
                   Json& document);

}  // namespace proca::report

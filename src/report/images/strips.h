#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/files/read_json.h"
#include "report/images/image_set.h"

namespace proca::report {

/// How many images a strip shows.
inline constexpr int64_t kStripImages = 8;

/// What a strip shows: of the labels in `classes`, evenly chosen, the first image each. Array of
/// `{src, path, label}`, as in docs/formats/report_data.md; images that cannot be read are left
/// out.
Json labelled_strip(const ImageSet& images, const std::vector<int64_t>& classes);

/// The same of images without labels, evenly chosen: `{src, path, pseudo}`, with the label that a
/// step gave to the image of this name.
Json unlabelled_strip(const ImageSet& images, const std::map<std::string, int64_t>& pseudo_labels);

}  // namespace proca::report

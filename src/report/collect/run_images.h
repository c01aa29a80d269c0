#pragma once

#include <optional>
#include <vector>

#include "report/collect/run_reader.h"
#include "report/images/image_set.h"

namespace proca::report {

/// The images of a run, as far as they are still where the run found them.
struct RunImages {
  std::optional<ImageSet> source, target;
};

/// Those of a run with this `preset`, `source`, `target` and these `options` (keys of the run in
/// docs/formats/report_data.md) and `classes`; of a state directory, which has no preset, the
/// target's are those of its last step.
RunImages find_images(const RunFolders& folders, const Json& run);

/// `pictures` of a run; null if there are none to show. `schedule` as in the document.
Json strips_json(const RunImages& images, const RunFolders& folders,
                 const std::vector<std::vector<int64_t>>& schedule);

}  // namespace proca::report

#pragma once

#include "core/files/read_json.h"

namespace proca::report {

/// Adds `usual` to the options of a run of a preset: the value that the preset and the method would
/// have taken by themselves (docs/formats/report_data.md). Leaves them as they are where that is
/// not known: the preset's file has gone, or the method is of another version.
void add_usual_values(Json& run);

}  // namespace proca::report

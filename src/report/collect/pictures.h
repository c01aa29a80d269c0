#pragma once

#include "core/files/read_json.h"
#include "proca/state/feature_record.h"
#include "report/collect/detail.h"

namespace proca::report {

/// `embedding` of a step, as in docs/formats/report_data.md.
Json embedding_json(const state::FeatureRecord& record, Detail::Pictures kind);

}  // namespace proca::report

#pragma once

#include "core/files/read_json.h"

namespace proca::report {

/// Throws `std::invalid_argument` naming the first value of a report's document that is not of the
/// type docs/formats/report_data.md gives, such as `runs[0].classes is not a list`. Missing keys
/// and null are allowed everywhere but in tables and for `title`; unknown keys are not looked at.
void check_document(const Json& document);

}  // namespace proca::report

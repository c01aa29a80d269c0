#pragma once

#include <string>

namespace proca::report {

/// One HTML page that shows the document (`docs/formats/report_data.md`), without other files or
/// the network. Names in the document are shown as text, never as markup.
///
/// Throws `std::invalid_argument` if `document` is not JSON.
std::string report_page(const std::string& document);

/// Whether the page draws charts: not if Chart.js was missing when the library was built.
bool has_charts();

}  // namespace proca::report

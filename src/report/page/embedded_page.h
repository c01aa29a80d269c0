#pragma once

#include "core/files/embedded_file.h"

namespace proca {

// The files of src/report/page/, each table by name.
std::span<const EmbeddedFile> embedded_page_html();
std::span<const EmbeddedFile> embedded_page_styles();
std::span<const EmbeddedFile> embedded_page_scripts();
/// Chart.js; empty where it was not found.
std::span<const EmbeddedFile> embedded_chart_library();

}  // namespace proca

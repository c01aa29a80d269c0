#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace proca::report {

struct ReportOptions {
  std::string title = {};                ///< empty: derived from the runs
  std::optional<double> refresh_s = {};  ///< how often the page reloads while a run is unfinished
};

/// The data of a report (`docs/formats/report_data.md`).
struct ReportDocument {
  std::string json;
  bool is_finished = true;  ///< no run in it is unfinished
};

/// Collects what is in folders: of `proca run` with all its seeds, state directories of
/// `proca adapt`, outputs of `proca reproduce` with all their runs and tables, and folders
/// that hold runs side by side, as that of `proca demo`.
///
/// Unfinished runs are shown as far as they have got, and may continue meanwhile. Large
/// collections show less of each run: beyond 30 pictures of features these are principal
/// components instead of t-SNE, and at most 2,500 prototypes have pictures.
///
/// Throws `InputError` for a folder that is none of these, and naming a file that is
/// damaged.
ReportDocument collect_report(const std::vector<std::filesystem::path>& folders,
                              const ReportOptions& options);

/// A document from a file that `proca report --json` wrote. Throws `InputError` when it is
/// not one, or of another version.
ReportDocument read_document(const std::filesystem::path& path, const ReportOptions& options);

}  // namespace proca::report

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace proca::report {

struct ReportOptions {
  std::string title = {};                ///< empty: made of what is shown
  std::optional<double> refresh_s = {};  ///< told to the page while something is not finished
};

/// What a report shows, as `docs/formats/report_data.md` describes it.
struct ReportDocument {
  std::string json;
  bool is_finished = true;  ///< nothing in it will change by itself
};

/// Collects what is in folders: of `proca run` with all its seeds, state directories of
/// `proca adapt`, outputs of `proca reproduce` with all their runs and tables, and folders
/// that hold runs side by side, as that of `proca demo`.
///
/// Work that is under way shows as far as it has come, and may go on meanwhile. Large
/// collections say less of each run: beyond 30 pictures of features these are principal
/// components instead of t-SNE, and prototypes have as many pictures as 2,500 allow.
///
/// Throws `InputError` for a folder that is none of these, and naming a file that is
/// damaged.
ReportDocument collect_report(const std::vector<std::filesystem::path>& folders,
                              const ReportOptions& options);

/// A document from a file that `proca report --json` wrote. Throws `InputError` when it is
/// not one, or of another version.
ReportDocument read_document(const std::filesystem::path& path, const ReportOptions& options);

}  // namespace proca::report

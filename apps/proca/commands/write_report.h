#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace proca::app {

/// Writes `report.html` about the folders of runs into `out` and returns its path. An empty
/// title is that of the runs.
std::filesystem::path write_report(const std::filesystem::path& out,
                                   const std::vector<std::filesystem::path>& folders,
                                   const std::string& title = {});

/// The same into a file of any name.
void write_report_file(const std::filesystem::path& file,
                       const std::vector<std::filesystem::path>& folders,
                       const std::string& title = {});

/// A document of `report::collect_report` less the time it was made: equal if nothing has
/// changed.
std::string without_time(std::string document);

}  // namespace proca::app

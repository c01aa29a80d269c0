#include "commands/write_report.h"

#include "core/scope_timer.h"
#include "proca/core/file.h"
#include "report/collect/report_data.h"
#include "report/page/report_page.h"

namespace proca::app {

namespace fs = std::filesystem;

fs::path write_report(const fs::path& out, const std::vector<fs::path>& folders,
                      const std::string& title) {
  const auto path = out / "report.html";
  write_report_file(path, folders, title);
  return path;
}

void write_report_file(const fs::path& file, const std::vector<fs::path>& folders,
                       const std::string& title) {
  const ScopeTimer timer("writing the report");
  write_file(file, report::report_page(report::collect_report(folders, {.title = title}).json));
}

std::string without_time(std::string document) {
  const auto key = document.find("\"created\":\"");
  const auto end = document.find("\",", key);
  if (key == document.npos || end == document.npos) return document;
  return document.erase(key, end + 2 - key);
}

}  // namespace proca::app

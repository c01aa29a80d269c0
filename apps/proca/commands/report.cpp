// proca report: one page about runs, states and reproductions.

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/write_report.h"
#include "core/files/path.h"
#include "output_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "report/collect/report_data.h"
#include "report/page/report_page.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
  std::vector<std::string> folders;
  std::string out;
  std::string json;
  std::string title;
  bool watch = false;
  double interval = 5;
};

report::ReportDocument collect(const ReportCommand& options) {
  report::ReportOptions shown{.title = options.title};
  if (options.watch) shown.refresh_s = options.interval;
  if (options.folders.size() == 1 && options.folders.front().ends_with(".json")) {
    return report::read_document(options.folders.front(), shown);
  }
  return report::collect_report({options.folders.begin(), options.folders.end()}, shown);
}

// Into the folder it is about, if that is one.
std::string place_of_page(const ReportCommand& options) {
  if (!options.out.empty()) return options.out;
  const bool is_document = options.folders.front().ends_with(".json");
  if (options.folders.size() > 1 || is_document) return "report.html";
  return (normalise_path(options.folders.front()) / "report.html").string();
}

void write(const ReportCommand& options, const report::ReportDocument& document) {
  if (!options.json.empty()) write_file(options.json, document.json + "\n");
  write_file(options.out, report::report_page(document.json));
}

// Until all runs are finished. Ctrl-C ends it, too, and is no failure.
void watch(const ReportCommand& options) {
  std::string written;
  for (;;) {
    const auto document = collect(options);
    const auto content = without_time(document.json);
    if (content != written) write(options, document);
    if (written.empty()) log_info(fmt::format("{}: is kept up to date", options.out));
    written = content;
    if (document.is_finished) return;
    wait_unless_interrupted(options.interval, "stopped");
  }
}

void run_report(ReportCommand options) {
  options.out = place_of_page(options);
  prepare_output(options.out, options.folders);
  if (!options.json.empty()) prepare_output(options.json, options.folders);
  if (!options.watch) {
    write(options, collect(options));
  } else {
    try {
      watch(options);
    } catch (const Interrupted&) {
      log_info("stopped; the page shows the last update");
    }
  }
  std::cout << options.out << '\n';
}

}  // namespace

Command report_command() {
  return {
      "report", "one page with charts about runs, states and reproductions", [](OptionSet& set) {
        const auto options = std::make_shared<ReportCommand>();
        set.bind_positional("dir", options->folders,
                            "folders of proca run, demo, adapt or reproduce, or one .json "
                            "that --json wrote",
                            "DIR");
        set.require();
        set.bind("out", options->out,
                 "the page; if empty, report.html in DIR, or here if there are several", "FILE");
        set.bind("json", options->json, "write the data behind it too", "FILE");
        set.bind("title", options->title, "heading; derived from the runs if empty");
        set.bind("watch", options->watch, "update the page until all runs are finished");
        set.bind("interval", options->interval, "seconds between two updates of --watch", 0.1,
                 86400);
        return [options] { run_report(*options); };
      }};
}

}  // namespace proca::app

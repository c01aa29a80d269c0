#include "report/collect/report_data.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include <fmt/chrono.h>

#include "core/files/lock_file.h"
#include "core/files/path.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/core/version.h"
#include "proca/state/state_directory.h"
#include "report/collect/check_document.h"
#include "report/collect/run_reader.h"
#include "state/state_files.h"

namespace proca::report {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFormatVersion = 1;
// A document holds its thumbnails: many runs may have a few hundred megabytes of them.
constexpr JsonLimits kDocumentLimits{.max_bytes = 1 << 30};

// A run, or one that still trains its source model.
bool is_run(const fs::path& folder) {
  if (is_there(folder / "run.toml")) return true;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const auto name = entry.path().filename().string();
    const bool numbered = name.starts_with("source-") && name.size() > 7 &&
                          name.find_first_not_of("0123456789", 7) == name.npos;
    if (numbered && is_there(entry.path() / state::kLockFile)) return true;
  }
  return false;
}

std::vector<fs::path> sorted_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    std::error_code vanished;
    if (entry.is_directory(vanished)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

const Json& checked_table(const Json& table) {
  table.at("title").get<std::string>();
  const auto columns = table.at("columns").get<std::vector<std::string>>();
  for (const auto& row : table.at("rows")) {
    row.at("label").get<std::string>();
    for (const auto& cell : row.at("cells")) cell.at("text").get<std::string>();
    if (row.at("cells").size() + 1 != columns.size()) {
      throw std::invalid_argument("a row of a table has not a cell for every column");
    }
  }
  return table;
}

// A report without curves or without its run's options looks complete.
void warn_about_missing(const RunFolders& folders, const Json& run) {
  const auto warn = [](const fs::path& file, const char* what) {
    log_warning(
        fmt::format("{}: is not there; the report is made without {}", file.string(), what));
  };
  for (const auto& part : folders.parts) {
    if (!is_there(part / "run.toml")) warn(part / "run.toml", "the run's options and classes");
  }
  const int64_t planned = run.value("steps_planned", int64_t{0});
  for (const auto& seed : folders.seeds) {
    const auto events = seed.state / state::kEventsFile;
    if (!is_there(events) && state::StateDirectory::read_manifest(seed.state).events_bytes > 0) {
      warn(events, "the curves and times in it");
    }
    const auto results = seed.part / "results.json";
    if (planned > 0 && seed.num_steps == planned && !is_there(results)) {
      warn(results, "the final figures; give the command of the run again");
    }
  }
}

class Collector {
 public:
  explicit Collector(const ReportOptions& options) : options_(options) {}

  void add(const fs::path& folder) {
    std::error_code unreadable;
    if (!fs::is_directory(folder, unreadable)) {
      throw InputError(fmt::format("{}: no such folder", folder.string()));
    }
    if (state::StateDirectory::exists(folder)) {
      runs_.push_back(as_run(folder));
    } else if (is_run(folder)) {
      runs_.push_back(find_seeds(folder, {folder}));
    } else if (is_there(folder / "runs")) {
      add_reproduction(folder);
    } else if (!add_runs_beside(folder)) {
      throw InputError(
          fmt::format("{}: holds neither a run, nor a state directory, nor what proca reproduce "
                      "writes: there is no run.toml, state.json or runs in it",
                      folder.string()));
    }
  }

  ReportDocument document() {
    int64_t num_seeds = 0, num_pictures = 0;
    for (const auto& run : runs_) {
      for (const auto& seed : run.seeds) {
        ++num_seeds;
        num_pictures += seed.num_steps + (seed.number ? 1 : 0);  // and the source model's
      }
    }
    const auto detail = Detail::of(num_seeds, num_pictures);
    auto runs = Json::array();
    bool has_strips = false;
    for (const auto& folders : runs_) {
      throw_if_interrupted("stopped while the report was made");
      auto run = Json{{"id", fmt::format("run-{}", runs.size() + 1)}};
      // One task is enough to see what the images are like.
      run.update(read_run(folders, detail, has_strips ? Strips::kLeftOut : Strips::kShown));
      has_strips = has_strips || run.contains("pictures");
      is_finished_ = is_finished_ && run.at("status") == "finished";
      // While it is watched or written a run may well lack some yet.
      if (!options_.refresh_s && run.at("status") != "running") warn_about_missing(folders, run);
      runs.push_back(std::move(run));
    }
    tell_apart(runs);
    Json json = {{"format_version", kFormatVersion},
                 {"title", options_.title.empty() ? default_title(runs) : options_.title},
                 {"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                 {"version", library_version()}};
    if (options_.refresh_s && !is_finished_) json["refresh_s"] = *options_.refresh_s;
    json["runs"] = std::move(runs);
    json["tables"] = std::move(tables_);
    return {text_of(json), is_finished_};
  }

 private:
  // runs/PRESET/SOURCE/TARGET/METHOD/seed-0/ is a run of one seed; those of the same method
  // are one run here.
  void add_reproduction(const fs::path& folder) {
    std::map<fs::path, std::vector<fs::path>> methods;
    std::error_code vanished;
    auto entry = fs::recursive_directory_iterator(folder / "runs", vanished);
    for (; entry != fs::recursive_directory_iterator(); entry.increment(vanished)) {
      if (!entry->is_directory(vanished) || !is_run(entry->path())) continue;
      methods[entry->path().parent_path()].push_back(entry->path());
      entry.disable_recursion_pending();
    }
    for (auto& [method, parts] : methods) {
      std::sort(parts.begin(), parts.end());
      runs_.push_back(find_seeds(method, parts));
    }
    is_finished_ = is_finished_ && !is_locked(folder / state::kLockFile);
    std::set<fs::path> files;
    for (const auto& file : fs::directory_iterator(folder, vanished)) {
      if (file.path().filename().string().ends_with(".table.json")) files.insert(file.path());
    }
    for (const auto& file : files) {
      reading(file.string(), [&] {
        const auto read = parse_json(read_text_file(file), file.string());
        for (const auto& table : read.at("tables")) tables_.push_back(checked_table(table));
        title_ = read.at("title").get<std::string>();
      });
    }
  }

  bool add_runs_beside(const fs::path& folder) {
    bool found = false;
    for (const auto& child : sorted_folders(folder)) {
      if (state::StateDirectory::exists(child) || !is_run(child)) continue;
      runs_.push_back(find_seeds(child, {child}));
      found = true;
    }
    return found;
  }

  // Runs of the same name get the part of their folders' paths in which they differ added.
  static void tell_apart(Json& runs) {
    std::map<std::string, std::vector<Json*>> by_name;
    for (auto& run : runs) by_name[run.at("name").get<std::string>()].push_back(&run);
    for (const auto& [name, same] : by_name) {
      if (same.size() < 2) continue;
      std::vector<std::string> paths;
      for (const auto* run : same) {
        const auto folder = fs::absolute(run->at("folder").get<std::string>()) / "";
        paths.push_back(folder.lexically_normal().parent_path().string());
      }
      size_t shared = 0;  // up to and with the last slash that all have in common
      for (size_t i = 0; i < paths.front().size(); ++i) {
        const auto has_same = [&](const auto& path) {
          return i < path.size() && path[i] == paths.front()[i];
        };
        if (!std::all_of(paths.begin(), paths.end(), has_same)) break;
        if (paths.front()[i] == '/') shared = i + 1;
      }
      for (size_t i = 0; i < same.size(); ++i) {
        (*same[i])["name"] = fmt::format("{} ({})", name, paths[i].substr(shared));
      }
    }
  }

  std::string default_title(const Json& runs) const {
    if (!title_.empty()) return title_;
    if (runs.size() == 1) return runs.front().at("name").get<std::string>();
    for (const auto* key : {"preset", "source", "target"}) {
      const auto is_same = [&](const Json& run) {
        return run.contains(key) && run.at(key) == runs.front().value(key, Json());
      };
      if (!std::all_of(runs.begin(), runs.end(), is_same)) {
        return fmt::format("{} runs", runs.size());
      }
    }
    const auto& task = runs.front();
    return fmt::format("{} {} → {}", task.at("preset").get<std::string>(),
                       task.at("source").get<std::string>(), task.at("target").get<std::string>());
  }

  const ReportOptions& options_;
  std::vector<RunFolders> runs_;
  Json tables_ = Json::array();
  std::string title_;  // of the experiment
  bool is_finished_ = true;
};

}  // namespace

ReportDocument collect_report(const std::vector<fs::path>& folders, const ReportOptions& options) {
  Collector collector(options);
  for (const auto& folder : folders) collector.add(normalise_path(folder));
  return collector.document();
}

ReportDocument read_document(const fs::path& path, const ReportOptions& options) {
  return reading(path.string(), [&]() -> ReportDocument {
    auto json = parse_json(read_text_file(path), path.string(), kDocumentLimits);
    const auto version = whole_number(json.at("format_version"));
    if (version != kFormatVersion) {
      throw InputError(fmt::format("{}: format version {}; this program reads version {}",
                                   path.string(), version, kFormatVersion));
    }
    json.at("title").get<std::string>();
    if (!json.at("runs").is_array()) throw std::invalid_argument("runs is not a list");
    check_document(json);
    if (json.contains("tables")) {
      for (const auto& table : json.at("tables")) checked_table(table);
    }
    if (!options.title.empty()) json["title"] = options.title;
    json.erase("refresh_s");  // Nothing will change it.
    return {text_of(json), true};
  });
}

}  // namespace proca::report

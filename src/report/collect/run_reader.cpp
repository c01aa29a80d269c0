#include "report/collect/run_reader.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "config/toml.h"
#include "core/files/lock_file.h"
#include "core/files/path.h"
#include "core/files/text_checksum.h"
#include "core/parse_number.h"
#include "experiments/run_results.h"
#include "proca/core/file.h"
#include "proca/state/state_directory.h"
#include "report/collect/run_images.h"
#include "report/collect/seed_reader.h"
#include "report/collect/usual_options.h"
#include "state/state_files.h"

namespace proca::report {
namespace {

namespace fs = std::filesystem;

// The number of a folder `seed-7`, for `prefix` "seed-".
std::optional<int64_t> number_of(const fs::path& folder, std::string_view prefix) {
  const auto name = folder.filename().string();
  if (!name.starts_with(prefix)) return std::nullopt;
  return parse_whole_number(std::string_view(name).substr(prefix.size()), INT64_MIN);
}

void add_options(Json& options, const std::string& text, const std::string& origin,
                 const std::string& section = {}) {
  for (const auto& entry : parse_toml(text, origin)) {
    auto name = section;
    if (!entry.section.empty()) name += (name.empty() ? "" : ".") + entry.section;
    options.push_back({{"section", name},
                       {"key", entry.key},
                       {"value", fmt::format("{}", fmt::join(entry.values, ", "))}});
  }
}

std::string value_of(const Json& options, const std::string& key) {
  for (const auto& option : options) {
    if (option.at("section") == "" && option.at("key") == key) return option.at("value");
  }
  return {};
}

// `own` of `presets/own.toml`.
std::string preset_name(const std::string& preset) {
  return preset.ends_with(".toml") ? fs::path(preset).stem().string() : preset;
}

bool is_being_written(const RunFolders& folders) {
  for (const auto& part : folders.parts) {
    std::error_code vanished;
    for (const auto& entry : fs::directory_iterator(part, vanished)) {
      const bool has_state = number_of(entry.path(), "seed-") || number_of(entry.path(), "source-");
      if (has_state && is_locked(entry.path() / state::kLockFile)) return true;
    }
  }
  return folders.parts.empty() && is_locked(folders.folder / state::kLockFile);
}

// The results of every seed are there.
bool is_complete(const RunFolders& folders, const Json& run) {
  if (folders.parts.empty()) {
    const auto manifest = state::StateDirectory::read_manifest(folders.folder);
    return manifest.phase == state::Phase::kReady && !manifest.adapting;
  }
  for (const auto& part : folders.parts) {
    if (!is_there(part / "results.json")) return false;
  }
  const auto planned = run.value("steps_planned", int64_t{0});
  return !folders.seeds.empty() &&
         std::all_of(folders.seeds.begin(), folders.seeds.end(),
                     [&](const auto& seed) { return seed.num_steps == planned; });
}

void describe_run(const RunFolders& folders, Json& run, RunFrame& frame) {
  auto options = Json::array();
  const auto config = folders.parts.front() / "run.toml";
  if (is_there(config)) {
    const auto text = read_text_file(config);
    refuse_wrong_checksum(check_toml_checksum(text), config.string());
    add_options(options, text, config.string());
    frame.schedule = experiments::classes_of_steps(text, config.string());
  }
  const auto preset = preset_name(value_of(options, "preset"));
  const auto source = value_of(options, "source"), target = value_of(options, "target");
  const auto method = value_of(options, "method");
  run["name"] = options.empty() ? folders.folder.filename().string()
                                : fmt::format("{} {} → {}, {}", preset, source, target, method);
  run["folder"] = folders.folder.string();
  if (!options.empty()) {
    run["preset"] = preset;
    run["source"] = source;
    run["target"] = target;
    run["method"] = method;
  }
  run["classes"] = Json::array();
  if (!frame.schedule.empty()) {
    run["schedule"] = frame.schedule;
    run["steps_planned"] = frame.schedule.size();
  }
  run["options"] = std::move(options);
}

void describe_state(const RunFolders& folders, Json& run) {
  const state::StateDirectory state(folders.folder, [](const std::string& file) {
    return file == state::kConfigFile || file == state::kAdaptFile;
  });
  const auto& method = state.manifest().method;
  const auto name = fs::weakly_canonical(folders.folder).filename().string();
  run["name"] = method.empty() ? name : name + ", " + method;
  run["folder"] = folders.folder.string();
  if (!method.empty()) run["method"] = method;
  run["classes"] = Json::array();
  auto options = Json::array();
  for (const auto& [file, section] :
       {std::pair(state::kAdaptFile, ""), {state::kConfigFile, "pretrain"}}) {
    if (state.has(file)) {
      add_options(options, state.read_text(file), (folders.folder / file).string(), section);
    }
  }
  run["options"] = std::move(options);
}

}  // namespace

RunFolders find_seeds(fs::path folder, std::vector<fs::path> parts) {
  RunFolders folders{std::move(folder), std::move(parts), {}};
  for (const auto& part : folders.parts) {
    std::error_code vanished;
    for (const auto& entry : fs::directory_iterator(part, vanished)) {
      const auto number = number_of(entry.path(), "seed-");
      if (!number || !state::StateDirectory::exists(entry.path())) continue;
      folders.seeds.push_back(
          {part, entry.path(), number, state::StateDirectory::read_manifest(entry.path()).step});
    }
  }
  std::sort(folders.seeds.begin(), folders.seeds.end(),
            [](const auto& a, const auto& b) { return *a.number < *b.number; });
  return folders;
}

RunFolders as_run(fs::path state) {
  RunFolders folders{state, {}, {}};
  const auto manifest = state::StateDirectory::read_manifest(state);
  folders.seeds.push_back({state, state, std::nullopt, manifest.step});
  return folders;
}

Json read_run(const RunFolders& folders, const Detail& detail, Strips strips) {
  Json run;
  RunFrame frame;
  // Before anything is read: a run that ends meanwhile is reported as running, not as half done.
  const bool is_running = is_being_written(folders);
  if (folders.parts.empty()) {
    describe_state(folders, run);
  } else {
    describe_run(folders, run, frame);
    if (run.contains("preset")) add_usual_values(run);
  }
  if (!folders.seeds.empty()) {
    const auto manifest = state::StateDirectory::read_manifest(folders.seeds.front().state);
    run["classes"] = manifest.model.class_names;
  }
  run["status"] = is_running ? "running" : is_complete(folders, run) ? "finished" : "unfinished";
  RunImages images;
  if (!folders.seeds.empty() && (strips == Strips::kShown || detail.mistakes_per_seed > 0)) {
    images = find_images(folders, run);
    if (strips == Strips::kShown) {
      if (auto shown = strips_json(images, folders, frame.schedule); !shown.is_null()) {
        run["pictures"] = std::move(shown);
      }
    }
  }
  if (images.target) frame.target = &*images.target;
  run["seeds"] = Json::array();
  for (const auto& seed : folders.seeds) {
    run["seeds"].push_back(read_seed(seed, frame, detail));
  }
  return run;
}

}  // namespace proca::report

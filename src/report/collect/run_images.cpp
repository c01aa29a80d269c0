#include "report/collect/run_images.h"

#include <map>
#include <numeric>

#include "proca/state/state_directory.h"
#include "protocol/preset.h"
#include "report/collect/step_reader.h"
#include "report/images/strips.h"
#include "state/state_files.h"

namespace proca::report {
namespace {

std::string option_of(const Json& run, const std::string& key) {
  for (const auto& option : run.at("options")) {
    if (option.at("section") == "" && option.at("key") == key) return option.at("value");
  }
  return {};
}

std::optional<ImageSet> open_labelled(const std::filesystem::path& path,
                                      const std::filesystem::path& root, const Json& run) {
  return ImageSet::open(path, {.labels = data::Labels::kRequired,
                               .root = root,
                               .known_classes = run.at("classes").get<std::vector<std::string>>()});
}

RunImages images_of_task(const Json& run) {
  const auto data_root = option_of(run, "data-root");
  auto root = option_of(run, "root");
  if (root.empty()) root = data_root;
  RunImages images;
  try {
    const auto paths = protocol::find_task(protocol::find_preset(option_of(run, "preset")),
                                           data_root, run.at("source"), run.at("target"));
    images.source = open_labelled(paths.source, root, run);
    images.target = open_labelled(paths.target, root, run);
  } catch (const InputError&) {
    // The preset's file or the images have gone.
  }
  return images;
}

std::map<std::string, int64_t> last_labels(const RunFolders& folders) {
  const auto number = folders.seeds.front().num_steps;
  if (number == 0) return {};
  const state::StateDirectory state(folders.folder, [](const std::string& file) {
    return file.starts_with(state::kStepsFolder);
  });
  return StepReader(state, number).label_of_name();
}

RunImages images_of_state(const RunFolders& folders, const Json& run) {
  const auto manifest = state::StateDirectory::read_manifest(folders.folder);
  RunImages images;
  images.source = open_labelled(manifest.source, manifest.source_root, run);
  std::vector<std::string> names;
  for (const auto& [name, label] : last_labels(folders)) names.push_back(name);
  images.target = ImageSet::of_files(names);
  return images;
}

}  // namespace

RunImages find_images(const RunFolders& folders, const Json& run) {
  return folders.parts.empty() ? images_of_state(folders, run) : images_of_task(run);
}

Json strips_json(const RunImages& images, const RunFolders& folders,
                 const std::vector<std::vector<int64_t>>& schedule) {
  std::vector<int64_t> classes;
  for (const auto& step : schedule) classes.insert(classes.end(), step.begin(), step.end());
  if (classes.empty() && images.source) {
    classes.resize(static_cast<size_t>(images.source->listing().num_classes()));
    std::iota(classes.begin(), classes.end(), 0);
  }
  Json strips;
  const auto put = [&](const char* key, Json strip) {
    if (!strip.empty()) strips[key] = std::move(strip);
  };
  if (images.source) put("source", labelled_strip(*images.source, classes));
  if (images.target) {
    put("target", images.target->listing().labelled()
                      ? labelled_strip(*images.target, classes)
                      : unlabelled_strip(*images.target, last_labels(folders)));
  }
  return strips;
}

}  // namespace proca::report

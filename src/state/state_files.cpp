#include "state/state_files.h"

#include <set>

namespace proca::state {

namespace {

std::string complete_name(std::string name) {
  name = name.substr(0, name.find(".tmp-"));
  if (name.ends_with(".next")) name.resize(name.size() - 5);
  return name;
}

}  // namespace

bool is_leftover(const std::string& name) {
  return name.ends_with(".next") || name.find(".tmp-") != std::string::npos;
}

bool is_watch_file(const std::string& name) {
  const auto complete = complete_name(name);
  return complete == kWatchFile || complete == kWatchLogFile || complete == kWatchLockFile;
}

bool is_state_file(const std::string& name) {
  static const std::set<std::string> names = {
      kManifestFile,      kLockFile,      kEventsFile,    kConfigFile,  kModelFile,
      kSourceFile,        kOptimizerFile, kScriptFile,    kCentresFile, kMemoryFile,
      kMethodFile,        kAdaptFile,     kTrainingFile,  kStepsFolder, kTrainingMemoryFile,
      kTrainingAdaptFile, kHistoryFolder, kKeptSourceFile};
  return names.contains(complete_name(name)) || is_watch_file(name);
}

}  // namespace proca::state

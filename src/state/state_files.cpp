#include "state/state_files.h"

#include <set>

namespace proca::state {

bool is_leftover(const std::string& name) {
  return name.ends_with(".next") || name.find(".tmp-") != std::string::npos;
}

bool is_state_file(std::string name) {
  static const std::set<std::string> names = {
      kManifestFile,      kLockFile,      kEventsFile,    kConfigFile,  kModelFile,
      kSourceFile,        kOptimizerFile, kScriptFile,    kCentresFile, kMemoryFile,
      kMethodFile,        kAdaptFile,     kTrainingFile,  kStepsFolder, kTrainingMemoryFile,
      kTrainingAdaptFile, kHistoryFolder, kKeptSourceFile};
  name = name.substr(0, name.find(".tmp-"));
  if (name.ends_with(".next")) name.resize(name.size() - 5);
  return names.contains(name);
}

}  // namespace proca::state

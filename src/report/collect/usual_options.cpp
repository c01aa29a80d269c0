#include "report/collect/usual_options.h"

#include <fmt/ranges.h>

#include "config/toml.h"
#include "experiments/run_identity.h"
#include "protocol/experiment.h"
#include "protocol/preset.h"

namespace proca::report {
namespace {

// Where things lie is of no interest: it is never usual.
bool is_place(const Json& option) {
  for (const auto* key :
       {"data-root", "source-state", "root", "weights", "preset", "source", "target", "method"}) {
    if (option.at("key") == key) return true;
  }
  return false;
}

}  // namespace

void add_usual_values(Json& run) {
  std::string preset_name;
  for (const auto& option : run.at("options")) {
    if (option.at("key") == "preset") preset_name = option.at("value");
  }
  try {
    const auto preset = protocol::find_preset(preset_name);
    const protocol::ExperimentTask task{
        .label = {}, .source = run.at("source"), .target = run.at("target")};
    const experiments::RunChoice choice{preset, task, run.at("method"), {}};
    const auto usual = parse_toml(experiments::resolved_options(choice).text(), preset_name);
    for (auto& option : run["options"]) {
      if (is_place(option)) continue;
      for (const auto& entry : usual) {
        if (entry.section == option.at("section") && entry.key == option.at("key")) {
          option["usual"] = fmt::format("{}", fmt::join(entry.values, ", "));
        }
      }
    }
  } catch (const InputError&) {
    // Nothing to compare with.
  }
}

}  // namespace proca::report

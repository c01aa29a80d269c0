// TOML as `--config` reads it, and the two kinds of file that are made of it.

#include "config/toml.h"
#include "fuzz_input.h"
#include "protocol/experiment.h"
#include "protocol/preset.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  const auto text = fuzz::text_of({data, size});
  fuzz::refuse_or([&] {
    for (const auto& entry : parse_toml(text, "input")) {
      fuzz::require(entry.line > 0, "every entry has its line");
    }
  });
  fuzz::refuse_or([&] {
    const auto preset = protocol::parse_preset(text, "name", "input");
    fuzz::require(preset.orders.contains(""), "a preset has its usual order");
  });
  fuzz::refuse_or([&] {
    const auto experiment = protocol::parse_experiment(text, "name", "input");
    fuzz::require(
        !experiment.runs.empty() && !experiment.seeds.empty() && !experiment.tasks.empty(),
        "an experiment has runs, seeds and tasks");
  });
  return 0;
}

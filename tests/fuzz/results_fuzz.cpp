// The JSON that a run leaves behind and reports read: metrics, results, detected classes.

#include "experiments/run_results.h"
#include "fuzz_input.h"
#include "protocol/metrics_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  const std::string text(fuzz::text_of({data, size}));
  fuzz::refuse_or([&] {
    const auto metrics = protocol::run_metrics_from_json(text, "input");
    const auto written = protocol::to_json(metrics);
    const auto again = protocol::to_json(protocol::run_metrics_from_json(written, "input"));
    // A percentage is divided and multiplied on the way, which rounds; its length stays.
    fuzz::require(
        protocol::run_metrics_from_json(again, "input").steps.size() == metrics.steps.size(),
        "metrics that were read can be written and read again");
  });
  fuzz::refuse_or([&] { protocol::step_record_from_json(text, "input"); });
  fuzz::refuse_or([&] { experiments::detection_from_json(text, "input"); });
  fuzz::refuse_or([&] { experiments::classes_of_steps(text, "input"); });
  return 0;
}

// `state.json`: what it says about a state is read, written and read as the same again.

#include "core/files/json_limits.h"
#include "fuzz_input.h"
#include "state/manifest_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  const auto text = fuzz::text_of({data, size});
  fuzz::refuse_or([&] {
    check_json_limits(text, "input");
    try {
      const auto manifest = state::manifest_from_json(nlohmann::json::parse(text));
      auto written = state::to_json(manifest);
      written["format_version"] = 2;
      fuzz::require(state::to_json(state::manifest_from_json(written)) == state::to_json(manifest),
                    "a manifest that was read is written as the same");
    } catch (const nlohmann::json::exception&) {  // The caller words these two.
    } catch (const std::invalid_argument&) {
    }
  });
  return 0;
}

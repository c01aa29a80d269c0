// `events.jsonl`. The first byte says how much of the rest the state vouches for, in 256ths.

#include "fuzz_input.h"
#include "report/collect/event_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  if (size == 0) return 0;
  const auto text = fuzz::text_of({data + 1, size - 1});
  const auto sure_bytes = static_cast<int64_t>(text.size()) * data[0] / 255;
  const fuzz::MemoryFile file(text);
  fuzz::refuse_or([&] {
    const auto events = report::read_events(file.path(), sure_bytes, std::nullopt);
    // What a report makes of them.
    text_of(events.losses);
    text_of(events.machine);
    for (const auto& [number, step] : events.steps) text_of(step);
  });
  return 0;
}

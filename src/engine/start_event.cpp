#include "start_event.h"

#include <torch/version.h>

#include "proca/core/version.h"
#include "proca/engine/precision.h"

namespace proca::engine {

void write_start_event(EventLog& events, const ComputeOptions& compute, c10::Device device) {
  events.write("start", {{"proca", library_version()},
                         {"libtorch", std::string(TORCH_VERSION)},
                         {"device", device_name(device)},
                         {"device_kind", std::string(device.is_cuda() ? "cuda" : "cpu")},
                         {"threads", compute.resolved_threads()},
                         {"precision",
                          std::string(word_of(effective_precision(compute.precision, device)))}});
}

}  // namespace proca::engine

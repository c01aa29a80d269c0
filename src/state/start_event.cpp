#include "state/start_event.h"

#include <torch/version.h>

#include "proca/compute/precision.h"
#include "proca/core/version.h"

namespace proca::state {

void write_start_event(EventLog& events, const compute::ComputeOptions& compute,
                       c10::Device device) {
  events.write("start", {{"proca", library_version()},
                         {"libtorch", std::string(TORCH_VERSION)},
                         {"device", compute::device_name(device)},
                         {"device_kind", std::string(device.is_cuda() ? "cuda" : "cpu")},
                         {"threads", compute.resolved_threads()},
                         {"precision", std::string(compute::word_of(compute::effective_precision(
                                           compute.precision, device)))}});
}

}  // namespace proca::state

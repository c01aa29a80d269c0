#pragma once

#include "proca/compute/device.h"
#include "state/event_log.h"

namespace proca::state {

/// The event `start`: versions, device, threads and precision.
void write_start_event(EventLog& events, const compute::ComputeOptions& compute,
                       c10::Device device);

}  // namespace proca::state

#pragma once

#include "proca/compute/device.h"
#include "proca/state/event_log.h"

namespace proca::state {

/// The event `start`: which program begins to work, on what, and how.
void write_start_event(EventLog& events, const compute::ComputeOptions& compute,
                       c10::Device device);

}  // namespace proca::state

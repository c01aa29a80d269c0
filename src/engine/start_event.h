#pragma once

#include "proca/engine/device.h"
#include "proca/engine/event_log.h"

namespace proca::engine {

/// The event `start`: which program begins to work, on what, and how.
void write_start_event(EventLog& events, const ComputeOptions& compute, c10::Device device);

}  // namespace proca::engine

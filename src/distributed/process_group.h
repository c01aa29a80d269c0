#pragma once

#include <chrono>
#include <memory>

#include <c10/core/Device.h>

#include "distributed/launch.h"
#include "proca/compute/ranks.h"

namespace proca::distributed {

/// Meets the other ranks: on a GPU through NCCL, on a CPU through Gloo. Throws `Error` when
/// they do not come in time, or `InputError` when this build cannot do it.
std::shared_ptr<compute::Ranks> join(const Launch& launch, c10::Device device,
                                     std::chrono::seconds timeout);

}  // namespace proca::distributed

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <torch/version.h>
#include <torch/csrc/distributed/c10d/Store.hpp>
#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

#include "distributed/launch.h"

namespace proca::distributed {

#if TORCH_VERSION_MAJOR >= 2
using C10dGroup = c10d::Backend;
#else
using C10dGroup = c10d::ProcessGroup;
#endif

/// LibTorch's process group on Gloo or NCCL. Null if this build lacks the library.
c10::intrusive_ptr<C10dGroup> make_gloo_group(const c10::intrusive_ptr<c10d::Store>& store,
                                              const Launch& launch,
                                              std::chrono::milliseconds timeout);
c10::intrusive_ptr<C10dGroup> make_nccl_group(const c10::intrusive_ptr<c10d::Store>& store,
                                              const Launch& launch,
                                              std::chrono::milliseconds timeout);

}  // namespace proca::distributed

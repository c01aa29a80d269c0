#include "distributed/c10d_ranks.h"

#if __has_include(<nccl.h>)
#ifndef USE_C10D_NCCL
#define USE_C10D_NCCL
#endif

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace proca::distributed {

c10::intrusive_ptr<C10dGroup> make_nccl_group(const c10::intrusive_ptr<c10d::Store>& store,
                                              const Launch& launch,
                                              std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      store, static_cast<int>(launch.rank), static_cast<int>(launch.size), std::move(options));
}

}  // namespace proca::distributed

#else

namespace proca::distributed {

c10::intrusive_ptr<C10dGroup> make_nccl_group(const c10::intrusive_ptr<c10d::Store>&, const Launch&,
                                              std::chrono::milliseconds) {
  return {};
}

}  // namespace proca::distributed

#endif

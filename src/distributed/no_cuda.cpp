// What a build without CUDA has in place of the files in cuda/.

#include "distributed/c10d_ranks.h"

namespace proca::distributed {

c10::intrusive_ptr<C10dGroup> make_nccl_group(const c10::intrusive_ptr<c10d::Store>&, const Launch&,
                                              std::chrono::milliseconds) {
  return {};
}

}  // namespace proca::distributed

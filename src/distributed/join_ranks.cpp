#include <fmt/format.h>

#include "distributed/launch.h"
#include "distributed/process_group.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"

namespace proca::distributed {

void join_ranks(compute::ComputeOptions& options) {
  const auto launch = find_launch();
  if (!launch) return;
  if (launch->rank > 0) {
    set_log_prefix(fmt::format("rank {}: ", launch->rank));
    if (log_level() < LogLevel::kWarning) set_log_level(LogLevel::kWarning);
  }
  options.local_ranks = launch->local_size;
  const bool is_free = options.device == "auto" || options.device == "cuda";
  if (is_free && compute::choose_device(options).is_cuda()) {
    options.device = fmt::format("cuda:{}", launch->local_rank);
  }
  const auto device = compute::choose_device(options);
  options.ranks = join(*launch, device, std::chrono::seconds(options.rank_timeout_s));
  stop_together();
  log_info(fmt::format("{} ranks train together on {}", launch->size,
                       device.is_cuda() ? "GPUs" : "CPUs"));
}

bool is_first(const compute::ComputeOptions& options) {
  return !options.ranks || options.ranks->rank() == 0;
}

}  // namespace proca::distributed

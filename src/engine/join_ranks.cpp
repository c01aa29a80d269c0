#include <fmt/format.h>

#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/engine/launch.h"
#include "process_group.h"

namespace proca::engine {

void join_ranks(ComputeOptions& options) {
  const auto launch = find_launch();
  if (!launch) return;
  if (launch->rank > 0) {
    set_log_prefix(fmt::format("rank {}: ", launch->rank));
    if (log_level() < LogLevel::kWarning) set_log_level(LogLevel::kWarning);
  }
  options.local_ranks = launch->local_size;
  const bool is_free = options.device == "auto" || options.device == "cuda";
  if (is_free && choose_device(options).is_cuda()) {
    options.device = fmt::format("cuda:{}", launch->local_rank);
  }
  const auto device = choose_device(options);
  options.ranks = join(*launch, device, std::chrono::seconds(options.rank_timeout_s));
  stop_together();
  log_info(fmt::format("{} ranks train together on {}", launch->size,
                       device.is_cuda() ? "GPUs" : "CPUs"));
}

bool is_first(const ComputeOptions& options) {
  return !options.ranks || options.ranks->rank() == 0;
}

}  // namespace proca::engine

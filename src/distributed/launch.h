#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proca/compute/device.h"

namespace proca::distributed {

/// How this process was started together with others that train the same network, as
/// launchers say it in environment variables:
///
/// | launcher          | rank, number of ranks                           | where rank 0 is |
/// |-------------------|-------------------------------------------------|------------------------------|
/// | `torchrun`, by hand | `RANK`, `WORLD_SIZE`                          | `MASTER_ADDR`,
/// `MASTER_PORT` | | `mpirun`          | `OMPI_COMM_WORLD_RANK`, `..._SIZE`; `PMI_RANK`, `PMI_SIZE`
/// | `MASTER_ADDR`, or this machine if all ranks are here | | Slurm's `srun`    | `SLURM_PROCID`,
/// `SLURM_STEP_NUM_TASKS`          | `MASTER_ADDR`, or the first of `SLURM_STEP_NODELIST` |
///
/// `LOCAL_RANK` and what the others call it choose the GPU. Without `MASTER_PORT` it is 29500,
/// or under Slurm a number that follows from the job's.
struct Launch {
  int64_t rank = 0, size = 1;
  int64_t local_rank = 0, local_size = 1;  ///< among those on this machine
  std::string address;                     ///< of the machine of rank 0
  int64_t port = 29500;
  /// `torchrun`'s own process keeps the store through which ranks meet; else rank 0 does.
  bool has_agent = false;
  int64_t restart = 0;  ///< how often `torchrun` has started this job again
};

/// Looks a variable up; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Nothing if this process is on its own. Throws `InputError` naming a variable that is
/// missing or makes no sense.
std::optional<Launch> find_launch(const Environment& environment);
/// With the variables of this process.
std::optional<Launch> find_launch();

/// If this process was started with others: waits for them and joins them in `options.ranks`,
/// chooses this rank's GPU and share of the CPU's cores, and lets only rank 0 speak, except
/// for warnings and errors. Stops are taken together from here on. Throws `Error` when the
/// others do not come within `options.rank_timeout_s`.
void join_ranks(compute::ComputeOptions& options);

/// Whether this process is the one that writes and speaks.
bool is_first(const compute::ComputeOptions& options);

}  // namespace proca::distributed

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proca/compute/device.h"

namespace proca::distributed {

/// How this process was started together with others that train the same network, from the
/// environment variables of the launcher:
///
/// | launcher            | rank, number of ranks                                      |
/// |---------------------|------------------------------------------------------------|
/// | `torchrun`, by hand | `RANK`, `WORLD_SIZE`                                       |
/// | `mpirun`            | `OMPI_COMM_WORLD_RANK`, `..._SIZE`; `PMI_RANK`, `PMI_SIZE` |
/// | Slurm's `srun`      | `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS`                     |
///
/// Rank 0 is found at `MASTER_ADDR`, `MASTER_PORT`. Without `MASTER_ADDR` it is on this machine
/// if all ranks of `mpirun` are, and on the first host of `SLURM_STEP_NODELIST` under Slurm.
/// The port is 29500 by default, or under Slurm a number that follows from the job's.
///
/// `LOCAL_RANK` and its counterparts choose the GPU.
struct Launch {
  int64_t rank = 0, size = 1;
  int64_t local_rank = 0, local_size = 1;  ///< among those on this machine
  std::string address;                     ///< of the machine of rank 0
  int64_t port = 29500;
  /// `torchrun`'s own process holds the store through which ranks meet; else rank 0 does.
  bool has_agent = false;
  int64_t restart = 0;  ///< how often `torchrun` has started this job again
};

/// Nothing if this process is on its own. Throws `InputError` naming a variable that is
/// missing or invalid.
std::optional<Launch> find_launch();

/// If this process was started with others: waits for them and joins them in `options.ranks`,
/// chooses this rank's GPU and share of the CPU's cores, and lets only rank 0 log and print,
/// except for warnings and errors. From then on all ranks stop together. Throws `Error` when
/// the others do not come within `options.rank_timeout_s`, and `InputError` when this build
/// cannot train with several ranks.
void join_ranks(compute::ComputeOptions& options);

/// Whether this process is the one that writes and prints.
bool is_first(const compute::ComputeOptions& options);

}  // namespace proca::distributed

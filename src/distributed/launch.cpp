#include "distributed/launch.h"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::distributed {
namespace {

constexpr int64_t kMostRanks = 1 << 20;

std::optional<std::string> text_of(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int64_t> number_of(const char* variable, int64_t least, int64_t most) {
  const auto text = text_of(variable);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const auto* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, value);
  if (error != std::errc{} || end != last || value < least || value > most) {
    throw InputError(fmt::format("environment variable {}: \"{}\" is not a number from {} to {}",
                                 variable, *text, least, most));
  }
  return value;
}

int64_t needed_number(const char* variable, const char* because, int64_t least, int64_t most) {
  if (const auto value = number_of(variable, least, most)) return *value;
  throw InputError(
      fmt::format("environment variable {}: is not set, but {} is", variable, because));
}

// The first host of a list such as "node[03-05,09],login": "node03".
std::string first_host(const std::string& list) {
  const auto bracket = list.find('[');
  const auto comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const auto end = list.find_first_of(",-]", bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

// The names a launcher has for the same things. Local ones may be missing.
struct Names {
  const char *rank, *size, *local_rank, *local_size;
};

Launch read(const Names& names) {
  Launch launch;
  launch.size = needed_number(names.size, names.rank, 1, kMostRanks);
  launch.rank = needed_number(names.rank, names.size, 0, launch.size - 1);
  launch.local_size = number_of(names.local_size, 1, launch.size).value_or(1);
  launch.local_rank = number_of(names.local_rank, 0, kMostRanks).value_or(0);
  return launch;
}

void find_first(Launch& launch, const std::string& otherwise, int64_t port) {
  launch.address = text_of("MASTER_ADDR").value_or(otherwise);
  if (launch.address.empty()) {
    throw InputError(
        "environment variable MASTER_ADDR: is not set; give all ranks the name or address of the "
        "machine of rank 0");
  }
  launch.port = number_of("MASTER_PORT", 1, 65535).value_or(port);
}

}  // namespace

std::optional<Launch> find_launch() {
  constexpr int64_t kUsualPort = 29500;
  if (text_of("RANK") || text_of("WORLD_SIZE")) {
    auto launch = read({"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
    find_first(launch, launch.size == 1 ? "127.0.0.1" : "", kUsualPort);
    launch.has_agent = text_of("TORCHELASTIC_USE_AGENT_STORE") == "True";
    launch.restart =
        number_of("TORCHELASTIC_RESTART_COUNT", 0, kMostRanks).value_or(launch.restart);
    return launch;
  }
  constexpr Names kOpenMpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                              "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
  constexpr Names kMpich = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
  for (const auto& names : {kOpenMpi, kMpich}) {
    if (!text_of(names.size) || !text_of(names.rank)) continue;
    auto launch = read(names);
    if (launch.size == 1) return std::nullopt;
    find_first(launch, launch.local_size == launch.size ? "127.0.0.1" : "", kUsualPort);
    return launch;
  }
  // A batch script alone has SLURM_NTASKS too, but is one process.
  if (text_of("SLURM_STEP_NUM_TASKS") && text_of("SLURM_PROCID") &&
      text_of("SLURM_STEP_NUM_TASKS") != "1") {
    auto launch = read({"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""});
    const auto nodes = number_of("SLURM_STEP_NUM_NODES", 1, kMostRanks).value_or(1);
    launch.local_size = (launch.size + nodes - 1) / nodes;
    const auto job = number_of("SLURM_JOB_ID", 0, INT64_MAX).value_or(0);
    find_first(launch, first_host(text_of("SLURM_STEP_NODELIST").value_or("")),
               20000 + job % 20000);
    return launch;
  }
  return std::nullopt;
}

}  // namespace proca::distributed

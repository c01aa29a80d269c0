#include "distributed/launch.h"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::distributed {
namespace {

int64_t number_of(const std::string& name, const std::string& text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw InputError(fmt::format("environment variable {}: \"{}\" is not a number from {} to {}",
                                 name, text, least, most));
  }
  return value;
}

constexpr int64_t kMostRanks = 1 << 20;

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  std::optional<std::string> text(const std::string& name) const {
    auto value = environment_(name);
    if (value && value->empty()) value.reset();
    return value;
  }
  std::optional<int64_t> number(const std::string& name, int64_t least, int64_t most) const {
    const auto value = text(name);
    if (!value) return std::nullopt;
    return number_of(name, *value, least, most);
  }
  int64_t needed(const std::string& name, const std::string& because, int64_t least,
                 int64_t most) const {
    if (const auto value = number(name, least, most)) return *value;
    throw InputError(fmt::format("environment variable {}: is not set, but {} is", name, because));
  }

 private:
  const Environment& environment_;
};

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

Launch read(const Variables& variables, const Names& names) {
  Launch launch;
  launch.size = variables.needed(names.size, names.rank, 1, kMostRanks);
  launch.rank = variables.needed(names.rank, names.size, 0, launch.size - 1);
  launch.local_size = variables.number(names.local_size, 1, launch.size).value_or(1);
  launch.local_rank = variables.number(names.local_rank, 0, kMostRanks).value_or(0);
  return launch;
}

void find_first(const Variables& variables, Launch& launch, const std::string& otherwise,
                int64_t port) {
  launch.address = variables.text("MASTER_ADDR").value_or(otherwise);
  if (launch.address.empty()) {
    throw InputError(
        "environment variable MASTER_ADDR: is not set; give all ranks the name or address of the "
        "machine of rank 0");
  }
  launch.port = variables.number("MASTER_PORT", 1, 65535).value_or(port);
}

}  // namespace

std::optional<Launch> find_launch(const Environment& environment) {
  const Variables variables(environment);
  constexpr int64_t kUsualPort = 29500;
  if (variables.text("RANK") || variables.text("WORLD_SIZE")) {
    auto launch = read(variables, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
    find_first(variables, launch, launch.size == 1 ? "127.0.0.1" : "", kUsualPort);
    launch.has_agent = variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    launch.restart =
        variables.number("TORCHELASTIC_RESTART_COUNT", 0, kMostRanks).value_or(launch.restart);
    return launch;
  }
  constexpr Names kOpenMpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                              "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
  constexpr Names kMpich = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
  for (const auto& names : {kOpenMpi, kMpich}) {
    if (!variables.text(names.size) || !variables.text(names.rank)) continue;
    auto launch = read(variables, names);
    if (launch.size == 1) return std::nullopt;
    find_first(variables, launch, launch.local_size == launch.size ? "127.0.0.1" : "", kUsualPort);
    return launch;
  }
  // A batch script alone has SLURM_NTASKS too, but is one process.
  if (variables.text("SLURM_STEP_NUM_TASKS") && variables.text("SLURM_PROCID") &&
      variables.text("SLURM_STEP_NUM_TASKS") != "1") {
    auto launch = read(variables, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""});
    const auto nodes = variables.number("SLURM_STEP_NUM_NODES", 1, kMostRanks).value_or(1);
    launch.local_size = (launch.size + nodes - 1) / nodes;
    const auto job = variables.number("SLURM_JOB_ID", 0, INT64_MAX).value_or(0);
    find_first(variables, launch, first_host(variables.text("SLURM_STEP_NODELIST").value_or("")),
               20000 + job % 20000);
    return launch;
  }
  return std::nullopt;
}

std::optional<Launch> find_launch() {
  return find_launch([](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

}  // namespace proca::distributed

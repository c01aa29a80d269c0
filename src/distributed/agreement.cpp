#include "distributed/agreement.h"

#include <sstream>

#include <fmt/format.h>

#include "compute/broadcast_bytes.h"
#include "core/files/content_hash.h"
#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca::distributed {

void check_agreement(compute::Ranks* ranks, const std::string& what,
                     const models::NamedTensors& tensors) {
  if (ranks == nullptr || ranks->size() == 1) return;
  uint64_t hash = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto host = tensor.detach().to(torch::kCPU).contiguous();
    hash = content_hash(bytes_of(name), hash);
    hash = content_hash({static_cast<const uint8_t*>(host.data_ptr()), host.nbytes()}, hash);
  }
  const auto mine = static_cast<int64_t>(hash);
  const auto first = torch::tensor({mine}, torch::kInt64);
  ranks->broadcast(first);
  const auto differing = torch::tensor({first.item<int64_t>() == mine ? 0 : 1}, torch::kInt64);
  ranks->sum(differing);
  if (differing.item<int64_t>() == 0) return;
  throw Error(
      fmt::format("rank {} of {}: {} of the {} ranks have another {} than rank 0; use "
                  "machines of one kind, with the same program and the same images",
                  ranks->rank(), ranks->size(), differing.item<int64_t>(), ranks->size(), what));
}

namespace {

// A line for each option that must be the same. The images may lie in another place.
std::string options_in_common(const OptionSet& options) {
  std::string text;
  for (const auto& option : options.options()) {
    const bool is_place = option.type == "PATH" || option.type == "DIR" || option.type == "FILE";
    if (option.decides && !is_place) text += fmt::format("--{} {}\n", option.name, option.toml());
  }
  return text;
}

// The first lines that differ, as "A there, B here"; empty if none do.
std::string first_difference(const std::string& theirs, const std::string& mine) {
  std::istringstream there(theirs), here(mine);
  std::string a, b;
  for (;;) {
    const bool has_a = static_cast<bool>(std::getline(there, a));
    const bool has_b = static_cast<bool>(std::getline(here, b));
    if (!has_a && !has_b) return {};
    if (!has_a || !has_b || a != b) {
      return fmt::format("{} there, {} here", has_a ? a : "nothing", has_b ? b : "nothing");
    }
  }
}

}  // namespace

void check_same_options(compute::Ranks* ranks, const OptionSet& options) {
  if (ranks == nullptr || ranks->size() == 1) return;
  const auto mine = options_in_common(options);
  const auto first = compute::broadcast_bytes(*ranks, {mine.begin(), mine.end()});
  const auto difference = first_difference({first.begin(), first.end()}, mine);
  const auto differing = torch::tensor({difference.empty() ? 0 : 1}, torch::kInt64);
  ranks->sum(differing);
  if (!difference.empty()) {
    throw InputError(fmt::format("rank {} of {}: was given other options than rank 0: {}",
                                 ranks->rank(), ranks->size(), difference));
  }
  if (differing.item<int64_t>() == 0) return;
  throw InputError(
      fmt::format("rank {} of {}: {} of the ranks were given other options than "
                  "rank 0; their messages name them",
                  ranks->rank(), ranks->size(), differing.item<int64_t>()));
}

}  // namespace proca::distributed

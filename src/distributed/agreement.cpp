#include "distributed/agreement.h"

#include <fmt/format.h>

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

}  // namespace proca::distributed

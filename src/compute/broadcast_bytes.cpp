#include "compute/broadcast_bytes.h"

#include <torch/types.h>

namespace proca::compute {

std::vector<uint8_t> broadcast_bytes(Ranks& ranks, std::vector<uint8_t> bytes) {
  auto size = torch::tensor({static_cast<int64_t>(bytes.size())}, torch::kInt64);
  ranks.broadcast(size);
  bytes.resize(static_cast<size_t>(size.item<int64_t>()));
  if (!bytes.empty()) {
    ranks.broadcast(
        torch::from_blob(bytes.data(), {static_cast<int64_t>(bytes.size())}, torch::kUInt8));
  }
  return bytes;
}

}  // namespace proca::compute

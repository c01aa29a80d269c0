#pragma once

#include <cstdint>
#include <vector>

#include "proca/compute/ranks.h"

namespace proca::compute {

/// Rank 0's bytes, on all ranks.
std::vector<uint8_t> broadcast_bytes(Ranks& ranks, std::vector<uint8_t> bytes);

}  // namespace proca::compute

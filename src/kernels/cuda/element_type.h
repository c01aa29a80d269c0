#pragma once

namespace proca::models::cuda {

/// Of activations.
enum class ElementType { kFloat, kBFloat16 };

}  // namespace proca::models::cuda

#pragma once

namespace proca::kernels::cuda {

/// Of activations.
enum class ElementType { kFloat, kBFloat16 };

}  // namespace proca::kernels::cuda

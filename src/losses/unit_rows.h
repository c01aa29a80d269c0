#pragma once

#include <torch/types.h>

namespace proca::losses {

/// Rows of length 1. A row without direction becomes zero and passes no gradient
/// on: dividing by a small number instead would multiply the gradient by its
/// inverse, and one dead feature would undo the training.
torch::Tensor unit_rows(const torch::Tensor& rows);

}  // namespace proca::losses

#pragma once

#include <string_view>

#include "proca/methods/method.h"

namespace proca::methods {

/// Adds ProCA's prototypes to another method: the inner method's losses stay as they are,
/// and the losses on a batch of replayed prototypes, which gets a forward pass of its own,
/// are added. Prototypes are captured as in ProCA, with the source model's detection and
/// pseudo-labels; there is no loss on the pseudo-labels.
///
/// The options are those of `inner`, ProCA's, and `--replay`; the recipe is that of
/// `inner`. Name and summary must outlive the result.
MethodSpec with_prototypes(MethodSpec inner, std::string_view name, std::string_view summary);

}  // namespace proca::methods

#pragma once

#include <string_view>

#include "proca/methods/method.h"

namespace proca::methods {

/// A method that keeps ProCA's prototypes beside what another one does: the other's
/// losses stay as they are, and those on a batch of replayed prototypes, forwarded on
/// its own, join them. Prototypes are captured as in ProCA, by the source model's
/// detection and pseudo-labels; there is no loss on the pseudo-labels.
///
/// The options are those of `inner`, ProCA's, and `--replay`; the recipe is that of
/// `inner`. Name and summary must outlive the result.
MethodSpec with_prototypes(MethodSpec inner, std::string_view name, std::string_view summary);

}  // namespace proca::methods

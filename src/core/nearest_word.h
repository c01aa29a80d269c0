#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proca {

/// The known word that a mistyped one most likely meant, for messages such as
/// `unknown backbone 'resnet5'; did you mean 'resnet50'?`.
///
/// Near means few edits: inserting, deleting or replacing one character, or
/// swapping two neighbours, each counts 1. A known word is near when at most
/// one third of the longer of the two words (but at least one edit) separates
/// them. Upper and lower case, and `_` and `-`, count as equal, so that
/// `ResNet_50` finds `resnet-50`.
///
/// Of several equally near words the first in `known` wins. Empty when none is
/// near, when `known` is empty, and when `word` is empty.
///
/// Example:
/// ```
/// nearest_word("epoch", {"epochs", "seed"});  // "epochs"
/// nearest_word("colour", {"epochs", "seed"});  // ""
/// ```
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// The end of a message about an unknown word: `did you mean "epochs"?`, or `otherwise` if no known
/// word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         const std::string& otherwise);

}  // namespace proca

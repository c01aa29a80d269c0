#include "protocol/did_you_mean.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nearest_word.h"

namespace proca::protocol {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = nearest_word(word, known);
  return nearest.empty() ? fmt::format("; expected one of {}", fmt::join(known, ", "))
                         : fmt::format("; did you mean \"{}\"?", nearest);
}

}  // namespace proca::protocol

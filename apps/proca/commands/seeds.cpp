#include "commands/seeds.h"

#include <set>

#include <fmt/format.h>

#include "core/parse_number.h"
#include "proca/core/error.h"

namespace proca::app {

std::vector<int64_t> parse_seeds(const std::vector<std::string>& texts) {
  std::vector<int64_t> seeds;
  std::set<int64_t> known;
  for (const auto& text : texts) {
    const auto seed = parse_whole_number(text);
    if (!seed) {
      throw InvalidOption(fmt::format("--seeds: \"{}\" is not a whole number from 0", text));
    }
    if (!known.insert(*seed).second) {
      throw InvalidOption(fmt::format("--seeds: {} is given twice", *seed));
    }
    seeds.push_back(*seed);
  }
  return seeds;
}

}  // namespace proca::app

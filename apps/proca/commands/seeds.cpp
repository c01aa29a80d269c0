#include "commands/seeds.h"

#include <charconv>
#include <set>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::app {

std::vector<int64_t> parse_seeds(const std::vector<std::string>& texts) {
  std::vector<int64_t> seeds;
  std::set<int64_t> known;
  for (const auto& text : texts) {
    int64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size() || seed < 0) {
      throw InvalidOption(fmt::format("--seeds: \"{}\" is not a whole number from 0", text));
    }
    if (!known.insert(seed).second) {
      throw InvalidOption(fmt::format("--seeds: {} is given twice", seed));
    }
    seeds.push_back(seed);
  }
  return seeds;
}

}  // namespace proca::app

#include "core/nearest_word.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace proca {
namespace {

std::string without_case(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

// Optimal string alignment: Levenshtein's distance plus swaps of neighbours.
// Row i holds the distances between the first i characters of `a` and every
// beginning of `b`; a swap looks two rows back, so three rows are kept.
int64_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<int64_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) current[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(current);
    current[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, last[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
  }
  return current[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty()) return {};
  const std::string wanted = without_case(word);
  std::string nearest;
  int64_t least = 0;
  for (const std::string& candidate : known) {
    const int64_t distance = edit_distance(wanted, without_case(candidate));
    const auto longer = static_cast<int64_t>(std::max(word.size(), candidate.size()));
    if (distance > std::max<int64_t>(1, longer / 3)) continue;
    if (nearest.empty() || distance < least) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  const auto nearest = nearest_word(word, known);
  return nearest.empty() ? otherwise : "did you mean \"" + nearest + "\"?";
}

}  // namespace proca

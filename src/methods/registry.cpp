#include <fmt/format.h>

#include "core/nearest_word.h"
#include "proca/core/error.h"
#include "proca/methods/method.h"

namespace proca::methods {

const MethodSpec& find_method(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& spec : all_methods()) {
    if (spec.name == name) return spec;
    known.emplace_back(spec.name);
  }
  const auto nearest = nearest_word(name, known);
  throw InvalidOption(
      fmt::format("--method: unknown method \"{}\"{}", name,
                  nearest.empty() ? "; see proca methods" : "; did you mean \"" + nearest + "\"?"));
}

}  // namespace proca::methods

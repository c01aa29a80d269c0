#include <iostream>

#include <fmt/format.h>

#include "commands/commands.h"
#include "proca/methods/method.h"

namespace proca::app {

Command methods_command() {
  return {"methods", "list the adaptation methods", [](OptionSet&) {
            return [] {
              for (const auto& method : methods::all_methods()) {
                std::cout << fmt::format("{:<16} {}\n", method.name, method.summary);
              }
            };
          }};
}

}  // namespace proca::app

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "proca/state/undo.h"

namespace proca::app {
namespace {

struct UndoCommand {
  std::string state;
  bool discard_unfinished = false;
};

void run_undo(const UndoCommand& options) {
  const int64_t left = options.discard_unfinished ? state::forget_unfinished_step(options.state)
                                                  : state::undo_step(options.state);
  std::cout << fmt::format("{}: {}step {} is {}; the model is {}\n", options.state,
                           options.discard_unfinished ? "the unfinished " : "", left + 1,
                           options.discard_unfinished ? "forgotten" : "taken back",
                           left == 0 ? "the source model" : fmt::format("that of step {}", left));
}

}  // namespace

Command undo_command() {
  return {"undo", "take the last time step back", [](OptionSet& set) {
            const auto options = std::make_shared<UndoCommand>();
            set.bind("state", options->state, "state directory", "DIR");
            set.require();
            set.bind("discard-unfinished", options->discard_unfinished,
                     "forget a step that was cut off, and keep those that are finished");
            return [options] { run_undo(*options); };
          }};
}

}  // namespace proca::app

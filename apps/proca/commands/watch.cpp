#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/write_report.h"
#include "distributed/launch.h"
#include "engine/step_identity.h"
#include "engine/watch/batch_problem.h"
#include "engine/watch/watcher.h"
#include "output_file.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/engine/adapter.h"
#include "proca/state/state_directory.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;
using engine::AfterStep;

struct WatchCommand {
  std::string state;
  std::string inbox;
  std::string done;
  bool keeps = false;
  bool deletes = false;
  std::string report;
  engine::WatchOptions watch;
  engine::AdaptOptions adapt;
};

AfterStep after_step(const WatchCommand& options) {
  if (int{!options.done.empty()} + int{options.keeps} + int{options.deletes} > 1) {
    throw InvalidOption("--done, --keep and --delete: give one of them");
  }
  if (!options.done.empty()) return AfterStep::kMove;
  if (options.keeps) return AfterStep::kKeep;
  return options.deletes ? AfterStep::kDelete : AfterStep::kUnsaid;
}

// An adapter of its own for each batch: between two of them other commands can use the state.
engine::StepOutcome adapt(const WatchCommand& options, const fs::path& batch,
                          engine::SameImages same_images, engine::Unfinished unfinished) {
  const std::shared_ptr target =
      data::open_images(batch, {.labels = data::Labels::kIgnored, .root = options.adapt.load.root});
  engine::Adapter adapter(options.adapt, options.state);
  return adapter.adapt(target, same_images, unfinished);
}

// The steps do not depend on it.
void refresh_report(const WatchCommand& options) {
  if (options.report.empty()) return;
  try {
    write_report_file(options.report, {options.state});
  } catch (const Error& error) {
    log_warning(fmt::format("the report is not up to date: {}", error.what()));
  }
}

// What would refuse every batch is found before the first one arrives.
void follow_state(WatchCommand& options) {
  auto& method = options.adapt.method;
  const auto used = state::StateDirectory::read_manifest(options.state).method;
  method.follow(engine::method_of_state(options.state));
  if (method.names().size() > 1) {
    throw InvalidOption("--method: a state has one method; proca run compares several");
  }
  const auto resolved = method.resolve();
  if (!used.empty() && used != method.name()) {
    throw InputError(fmt::format("{}: has been adapted with {}, not {}; use --method {}",
                                 options.state, used, method.name(), used));
  }
  for (const auto& sentence : method.idle_options(resolved)) log_warning(sentence);
}

void run_watch(WatchCommand& options) {
  if (distributed::find_launch()) {
    throw InvalidOption("proca watch: runs as a single process; adapt can use several");
  }
  follow_state(options);
  if (!options.report.empty()) prepare_output(options.report, {});
  compute::set_up_libtorch(options.adapt.compute);
  auto& watch = options.watch;
  watch.state = options.state;
  watch.inbox = options.inbox;
  watch.done = options.done;
  watch.after = after_step(options);
  const int64_t threads = options.adapt.compute.resolved_threads();
  engine::Watcher watcher(
      watch, {.adapt = [&](const fs::path& batch, engine::SameImages same,
                           engine::Unfinished rest) { return adapt(options, batch, same, rest); },
              .problem_of =
                  [&](const fs::path& batch) {
                    return engine::batch_problem(batch, options.adapt.load, threads);
                  },
              .after_batch = [&] { refresh_report(options); }});
  // A place that cannot be written to is found before the first step.
  if (!options.report.empty()) write_report_file(options.report, {options.state});
  if (!watch.once) log_info(fmt::format("{}: is being watched", options.inbox));
  watcher.run();
}

void bind_batches(WatchCommand& options, OptionSet& set) {
  auto& watch = options.watch;
  set.bind("marker", watch.marker, "file in a sub-folder that says it is complete", "NAME");
  set.bind("quiet-for", watch.quiet_for_s,
           "seconds without a change after which a sub-folder, or the loose images, are complete "
           "without a marker; 0 = never",
           0.0, 1e7);
  set.bind("min-images", watch.min_images, "files that --quiet-for waits for at least", 1,
           1'000'000'000);
  set.bind("done", options.done, "folder that a batch is moved to after its step", "DIR");
  set.bind("keep", options.keeps, "a batch stays where it is, marked by the file .proca-done");
  set.bind("delete", options.deletes, "a batch is deleted after its step");
}

}  // namespace

Command watch_command() {
  return {"watch", "adapt to every batch of images that arrives in a folder", [](OptionSet& set) {
            const auto options = std::make_shared<WatchCommand>();
            set.bind("state", options->state, "state directory to take further", "DIR");
            set.require();
            set.bind("inbox", options->inbox, "folder in which batches arrive, a sub-folder each",
                     "DIR");
            set.require();
            bind_batches(*options, set);
            set.bind("report", options->report, "page to write anew after every batch", "FILE");
            set.bind("once", options->watch.once, "end after what is complete now, for cron");
            set.bind("interval", options->watch.interval_s, "seconds between two looks", 0.1,
                     86400.0);
            set.bind("again", options->watch.again, "also if the last step had the same images");
            set.bind("discard-unfinished", options->watch.discard_unfinished,
                     "forget a step on other images or options that was cut off");
            options->adapt.bind(set);
            return [options] { run_watch(*options); };
          }};
}

}  // namespace proca::app

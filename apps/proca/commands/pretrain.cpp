#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "core/counted.h"
#include "distributed/agreement.h"
#include "distributed/launch.h"
#include "proca/engine/source_trainer.h"
#include "state/rank_folder.h"

namespace proca::app {

Command pretrain_command() {
  struct Options {
    engine::SourceTrainingOptions training;
    std::string out;
  };
  return {"pretrain", "train the source model on labelled images", [](OptionSet& set) {
            const auto options = std::make_shared<Options>();
            set.bind("out", options->out, "state directory to write", "DIR");
            set.require();
            set.often_used();
            options->training.bind(set);
            return [options, &set] {
              auto& compute = options->training.compute;
              distributed::join_ranks(compute);
              distributed::check_same_options(compute.ranks.get(), set);
              compute::set_up_libtorch(compute);
              if (!distributed::is_first(compute)) options->training.tensorboard.clear();
              const state::RankFolder out(compute.ranks, options->out);
              const auto result = engine::train_source(options->training, out.path());
              if (!distributed::is_first(compute)) return;
              std::cout << fmt::format("source model: {} ({})\n", options->out,
                                       counted(result.epochs, "epoch"));
              if (result.holdout_accuracy) {
                std::cout << fmt::format("held-out accuracy: {:.2f} %\n",
                                         *result.holdout_accuracy * 100);
              }
            };
          }};
}

}  // namespace proca::app

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "proca/engine/launch.h"
#include "proca/engine/rank_folder.h"
#include "proca/engine/source_trainer.h"

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
            options->training.bind(set);
            return [options] {
              auto& compute = options->training.compute;
              engine::join_ranks(compute);
              if (!engine::is_first(compute)) options->training.tensorboard.clear();
              const engine::RankFolder out(compute.ranks, options->out);
              const auto result = engine::train_source(options->training, out.path());
              if (!engine::is_first(compute)) return;
              std::cout << fmt::format("source model: {} ({} epochs)\n", options->out,
                                       result.epochs);
              if (result.holdout_accuracy) {
                std::cout << fmt::format("held-out accuracy: {:.2f} %\n",
                                         *result.holdout_accuracy * 100);
              }
            };
          }};
}

}  // namespace proca::app

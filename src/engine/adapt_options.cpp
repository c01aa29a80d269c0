#include "proca/engine/adapter.h"

namespace proca::engine {

void AdaptOptions::bind_training(OptionSet& options) {
  method.bind(options);
  options.bind_auto<int64_t>(
      "epochs", epochs, "passes over the images of a step; auto = the method's own", 1, 1'000'000);
  options.bind_auto<int64_t>("batch-size", batch_size,
                             "images of each kind per iteration; auto = the method's own", 2,
                             65536);
  options.bind_auto("lr", lr, "learning rate; auto = the method's own", 0.0, 100.0);
  options.bind_auto("momentum", momentum, "of the gradient descent; auto = the method's own", 0.0,
                    0.9999);
  options.bind_auto("weight-decay", weight_decay,
                    "of the gradient descent; auto = the method's own", 0.0, 1.0);
  options.bind("start-weights", start_weights,
               "weight file the first step starts from instead of the source model", "FILE");
  options.bind("checkpoint-every", checkpoint_every,
               "seconds between checkpoints within a step; 0 = after every iteration", 0,
               1'000'000);
}

void AdaptOptions::bind(OptionSet& options) {
  bind_training(options);
  options.bind("seed", seed, "of every random choice", 0);
  load.bind(options);
  compute.bind(options);
}

}  // namespace proca::engine

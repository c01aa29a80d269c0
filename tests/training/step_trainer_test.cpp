#include "training/step_trainer.h"

#include <gtest/gtest.h>

#include "support/fake_step.h"
#include "support/image_feeds.h"
#include "support/temporary_folder.h"
#include "training/feeds/device_images.h"

namespace proca::training {
namespace {

using methods::ModelChoice;

// Asks for both models' views wherever a hook may, and trains on the source images.
class CuriousMethod final : public methods::Method {
 public:
  explicit CuriousMethod(models::ClassifierNetwork network) : network_(std::move(network)) {}

  void begin_step(const methods::StepContext& context) override { ask(context); }
  void begin_epoch(const methods::StepContext& context) override { ask(context); }
  void end_epoch(const methods::StepContext& context) override { ask(context); }
  std::vector<methods::LossTerm> compute_losses(const methods::AdaptationBatch& batch,
                                                const methods::StepContext&) override {
    return {{"sum", network_->forward(batch.source_images).logits.pow(2).sum()}};
  }

  std::vector<double> answers;  // of the current network

 private:
  void ask(const methods::StepContext& context) {
    context.predict_target(ModelChoice::kSource);
    answers.push_back(context.predict_target(ModelChoice::kCurrent).features.item<double>());
  }

  models::ClassifierNetwork network_;
};

TEST(StepTrainerTest, TheCurrentNetworkIsAskedOnceUntilItIsTrainedAgain) {
  const auto network = test::small_network(3);
  const auto images = test::noise_store(8);
  DeviceImages device_images(torch::kCPU, 0, 1);
  CuriousMethod method(network);
  double num_current = 0, num_source = 0;
  methods::StepContext context;
  context.predict_target = [&](ModelChoice choice) -> methods::Predictions {
    auto& count = choice == ModelChoice::kCurrent ? num_current : num_source;
    return {.probabilities = {}, .features = torch::tensor(++count)};
  };
  const TrainingImages shown{&images, {.image_size = 12}};
  std::unique_ptr<TrainingMachine> machine;
  methods::TrainingRecipe recipe;
  recipe.epochs = 3;
  recipe.batch_size = 4;
  StepTrainer trainer({.network = network,
                       .method = &method,
                       .source = shown,
                       .target = shown,
                       .preprocessing = {.image_size = 12},
                       .recipe = recipe,
                       .context = context,
                       .images = &device_images},
                      machine);
  const test::TemporaryFolder folder;
  state::EventLog events(folder / "events.jsonl", 0);
  trainer.run(events, [] {});
  // Before the first epoch, after it and before the second, and so on.
  EXPECT_EQ(method.answers, (std::vector<double>{1, 1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(num_source, 7);
}

}  // namespace
}  // namespace proca::training

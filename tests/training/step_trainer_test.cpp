#include "training/step_trainer.h"

#include <gtest/gtest.h>

#include "adaptation/prototypes.h"
#include "proca/core/interrupt.h"
#include "support/fake_step.h"
#include "support/image_feeds.h"
#include "support/temporary_folder.h"
#include "training/feeds/device_images.h"

namespace proca::training {
namespace {

using methods::ModelChoice;

// Asks for the predictions of both models in every hook, and trains on the source images.
class PredictingMethod final : public methods::Method {
 public:
  explicit PredictingMethod(models::ClassifierNetwork network) : network_(std::move(network)) {}

  void begin_step(const methods::StepContext& context) override { predict(context); }
  void begin_epoch(const methods::StepContext& context) override { predict(context); }
  void end_epoch(const methods::StepContext& context) override { predict(context); }
  std::vector<methods::LossTerm> compute_losses(const methods::AdaptationBatch& batch,
                                                const methods::StepContext&) override {
    return {{"sum", network_->forward(batch.source_images).logits.pow(2).sum()}};
  }

  std::vector<double> predictions;  // of the current network, numbered

 private:
  void predict(const methods::StepContext& context) {
    context.predict_target(ModelChoice::kSource);
    predictions.push_back(
        context.predict_target(ModelChoice::kCurrent).features[0][0].item<double>());
  }

  models::ClassifierNetwork network_;
};

// Of eight images and three classes; `number` stands in every feature.
methods::Predictions predictions_numbered(double number) {
  return {.probabilities = torch::full({8, 3}, 1.0 / 3), .features = torch::full({8, 1}, number)};
}

// Takes a method through a step of eight images that are source and target, two batches an epoch.
void run_step(methods::Method& method, const models::ClassifierNetwork& network, int64_t epochs,
              const methods::StepContext& context = {}) {
  const auto images = test::noise_store(8);
  DeviceImages device_images(torch::kCPU, 0, 1);
  const TrainingImages shown{&images, {.image_size = 12}};
  std::unique_ptr<TrainingIteration> iteration;
  methods::TrainingRecipe recipe;
  recipe.epochs = epochs;
  recipe.batch_size = 4;
  StepTrainer trainer({.network = network,
                       .method = &method,
                       .source = shown,
                       .target = shown,
                       .preprocessing = {.image_size = 12},
                       .recipe = recipe,
                       .context = context,
                       .images = &device_images},
                      iteration);
  const test::TemporaryFolder folder;
  state::EventLog events(folder / "events.jsonl", 0);
  trainer.run(events, [] {});
}

TEST(StepTrainerTest, PredictionsOfTheCurrentNetworkAreKeptUntilItIsTrainedAgain) {
  const auto network = test::small_network(3);
  PredictingMethod method(network);
  double num_current = 0, num_source = 0;
  methods::StepContext context;
  context.predict_target = [&](ModelChoice choice) -> methods::Predictions {
    auto& count = choice == ModelChoice::kCurrent ? num_current : num_source;
    return predictions_numbered(++count);
  };
  run_step(method, network, /*epochs=*/3, context);
  // Before the first epoch, after it and before the second, and so on.
  EXPECT_EQ(method.predictions, (std::vector<double>{1, 1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(num_source, 8) << "the method's, and one to examine the step";
}

// Is stopped in the pass that follows a capture, as by Ctrl-C.
class StoppedMethod final : public methods::Method {
 public:
  explicit StoppedMethod(models::ClassifierNetwork network) : network_(std::move(network)) {}

  adaptation::PrototypeMemory* memory() override { return &memory_; }
  std::vector<methods::LossTerm> compute_losses(const methods::AdaptationBatch& batch,
                                                const methods::StepContext&) override {
    return {{"sum", network_->forward(batch.source_images).logits.pow(2).sum()}};
  }
  void end_epoch(const methods::StepContext&) override {
    auto captured = test::prototypes(/*label=*/1);
    captured.origins.clear();
    captured.image_ids = {0, 1, 2};
    memory_.put(captured);
    throw Interrupted("stopped");
  }

 private:
  models::ClassifierNetwork network_;
  adaptation::PrototypeMemory memory_{/*per_class=*/3};
};

TEST(StepTrainerTest, PrototypesHaveNamesWhenTheEndOfAnEpochIsStopped) {
  const auto network = test::small_network(3);
  StoppedMethod method(network);
  methods::StepContext context;
  context.predict_target = [](ModelChoice) { return predictions_numbered(1); };
  EXPECT_THROW(run_step(method, network, /*epochs=*/1, context), Interrupted);
  adaptation::PrototypeMemory loaded(/*per_class=*/3);
  loaded.load(method.memory()->save());  // Refuses prototypes without names.
  EXPECT_EQ(loaded.size(), method.memory()->size());
}

}  // namespace
}  // namespace proca::training

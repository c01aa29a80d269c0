#include "methods/parts/with_prototypes.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "proca/losses/cross_entropy.h"
#include "support/method_run.h"

namespace proca::methods {
namespace {

using test::MethodRun;
using Names = std::vector<std::string>;
using Terms = std::vector<LossTerm>;

constexpr int64_t kNeckSize = 6;

// Source training behind a neck. It skips every iteration from epoch `skip_from` on.
class Plain final : public Method {
 public:
  Plain(models::ClassifierNetwork network, int64_t skip_from)
      : network_(std::move(network)), skip_from_(skip_from) {
    if (network_->neck().is_empty()) network_->insert_neck("linear 6", 0);
  }
  EpochPlan plan_epoch(const StepContext&) const override { return {.extra_source = 2}; }
  int64_t extra_epochs(int64_t step) const override { return step == 5 ? 7 : 0; }
  bool uses_source(int64_t step) const override { return step != 5; }
  std::vector<LossTerm> compute_losses(const AdaptationBatch& batch,
                                       const StepContext& context) override {
    if (context.epoch >= skip_from_) return {};
    ++calls_;
    const auto output = network_->forward(batch.source_images);
    return {{"source", losses::cross_entropy(output.logits, batch.source_labels)}};
  }
  std::map<std::string, torch::Tensor> save() const override {
    return {{"calls", torch::tensor({calls_}, torch::kInt64)}};
  }
  void load(const std::map<std::string, torch::Tensor>& state) override {
    calls_ = state.at("calls").item<int64_t>();
  }

 private:
  models::ClassifierNetwork network_;
  int64_t skip_from_;
  int64_t calls_ = 0;
};

MethodSpec plain_spec() {
  return {.name = "plain",
          .summary = "for this test",
          .configure = [](OptionSet& options) -> MethodFactory {
            const auto skip_from = std::make_shared<int64_t>(1000);
            options.bind("skip-from", *skip_from, "first epoch without losses", 0, 1000);
            return [skip_from](models::ClassifierNetwork network, uint64_t) {
              return std::make_unique<Plain>(std::move(network), *skip_from);
            };
          },
          .recipe = {.epochs = 3, .iterations = 77}};
}

MethodSpec combined() { return with_prototypes(plain_spec(), "plain-prototypes", "both"); }

class WithPrototypesTest : public ::testing::Test {
 protected:
  test::MethodOnNetwork build(std::vector<std::pair<std::string, std::string>> values = {}) {
    values.insert(values.begin(), {"prototypes", "2"});
    return test::build_method(combined(), 4, values);
  }

  // Names of the terms of the last iteration of each of ten epochs of step 0.
  std::vector<Names> names_by_epoch(test::MethodOnNetwork& built) {
    test::FakeStep images(built.network, 16, 8, {1, 2});
    MethodRun run(built, images, {.epochs = 10});
    std::vector<Names> names(10);
    run.adjust = [&](StepContext& context) { count_centres(context); };
    run.watch = [&](const StepContext& context, const Terms& terms) {
      auto& of_epoch = names[static_cast<size_t>(context.epoch)];
      of_epoch.clear();
      for (const auto& term : terms) of_epoch.emplace_back(term.name);
      last_ = terms;
    };
    run.run_step(0);
    return names;
  }

  void count_centres(StepContext& context) {
    context.source_centres = [this, centres = context.source_centres](ModelChoice choice) {
      ++(choice == ModelChoice::kCurrent ? centres_of_current_ : centres_of_source_);
      return centres(choice);
    };
  }

  Terms last_;
  int64_t centres_of_current_ = 0, centres_of_source_ = 0;
};

TEST_F(WithPrototypesTest, HasItsOwnNameAndTheInnerRecipe) {
  const auto spec = combined();
  EXPECT_EQ(spec.name, "plain-prototypes");
  EXPECT_EQ(spec.summary, "both");
  EXPECT_EQ(spec.recipe.iterations, 77);
}

TEST_F(WithPrototypesTest, OffersTheOptionsOfBothButNoneAboutWhenCentresAreMade) {
  OptionSet options;
  const auto factory = combined().configure(options);
  for (const auto* name : {"skip-from", "alpha", "lambda", "eta", "replay"}) {
    EXPECT_NE(options.find(name), nullptr) << name;
  }
  EXPECT_EQ(options.find("centre-model"), nullptr);
  EXPECT_EQ(options.find("centres-every"), nullptr);
  EXPECT_EQ(options.find("pseudo-label-model")->toml(), "\"source\"");
}

TEST_F(WithPrototypesTest, AddsTwoTermsOncePrototypesWereCaptured) {
  auto built = build({{"lambda", "0.25"}, {"eta", "3"}});
  const auto names = names_by_epoch(built);
  for (size_t epoch = 0; epoch < 4; ++epoch) EXPECT_EQ(names[epoch], (Names{"source"}));
  for (size_t epoch = 4; epoch < 10; ++epoch) {
    EXPECT_EQ(names[epoch], (Names{"source", "alignment", "distillation"}));
  }
  EXPECT_EQ(last_[1].weight, 0.25);
  EXPECT_EQ(last_[2].weight, 3);
  EXPECT_GT(built.method->memory()->num_classes(), 0);
  ASSERT_NE(built.method->decisions(), nullptr);
  EXPECT_FALSE(built.method->decisions()->shared_classes.classes.empty());
}

TEST_F(WithPrototypesTest, CentresAreTheCurrentNetworksAndRenewedAtEachCapture) {
  auto built = build();
  names_by_epoch(built);
  EXPECT_EQ(centres_of_source_, 0);
  EXPECT_EQ(centres_of_current_, 2) << "after epochs 3 and 7";
  EXPECT_EQ(built.method->save().at("prototypes.centres").sizes(),
            (std::vector<int64_t>{4, kNeckSize}));
  // A later step replays from its first epoch on, and needs centres at once.
  test::FakeStep images(built.network, 16, 8, {1, 2});
  auto context = images.context();
  context.step = 1;
  count_centres(context);
  built.method->begin_step(context);
  EXPECT_EQ(centres_of_current_, 3);
  EXPECT_EQ(centres_of_source_, 0);
}

TEST_F(WithPrototypesTest, HardReplayIsCrossEntropyWithThePrototypesClasses) {
  auto built = build({{"replay", "hard"}, {"eta", "0.5"}});
  const auto names = names_by_epoch(built);
  EXPECT_EQ(names[3], (Names{"source"}));
  EXPECT_EQ(names[4], (Names{"source", "replay"}));
  EXPECT_EQ(last_[1].weight, 0.5);
  EXPECT_EQ(centres_of_current_ + centres_of_source_, 0);
  EXPECT_FALSE(built.method->save().contains("prototypes.centres"));
}

TEST_F(WithPrototypesTest, TheReplayedBatchIsForwardedByItself) {
  auto with = build({{"eta", "0"}, {"lambda", "0"}}), without = test::build_method(plain_spec(), 4);
  names_by_epoch(with);
  const double loss = last_[0].value.item<double>();
  names_by_epoch(without);
  EXPECT_EQ(loss, last_[0].value.item<double>()) << "the inner method's loss is what it was";
}

TEST_F(WithPrototypesTest, AnIterationThatTheInnerMethodSkipsIsSkipped) {
  auto built = build({{"skip-from", "6"}});
  const auto names = names_by_epoch(built);
  EXPECT_EQ(names[5].size(), 3u);
  EXPECT_TRUE(names[6].empty());
  EXPECT_TRUE(names[9].empty());
}

TEST_F(WithPrototypesTest, AsksTheInnerMethodForPlans) {
  auto built = build();
  EXPECT_EQ(built.method->plan_epoch({}).extra_source, 2);
  EXPECT_EQ(built.method->extra_epochs(5), 7);
  // Prototypes need the source's centres, also where the inner method needs no source.
  EXPECT_TRUE(built.method->uses_source(5));
  EXPECT_TRUE(built.method->trains());
}

TEST_F(WithPrototypesTest, BothStatesComeBackAlsoWithoutCentres) {
  for (const int64_t epochs : {1, 5}) {  // Before and after the first capture.
    auto built = build(), again = build();
    test::FakeStep images(built.network, 16, 8, {1, 2});
    MethodRun run(built, images, {.epochs = 10});
    run.stop = [&](const StepContext& context) { return context.epoch == epochs; };
    run.run_step(0);
    test::copy_state(built, again);
    const auto saved = built.method->save(), loaded = again.method->save();
    EXPECT_EQ(saved.contains("prototypes.centres"), epochs == 5);
    EXPECT_EQ(saved.at("inner.calls").item<int64_t>(), epochs * MethodRun::kIterations + 1);
    ASSERT_EQ(loaded.size(), saved.size());
    for (const auto& [name, tensor] : saved) {
      EXPECT_TRUE(torch::equal(loaded.at(name), tensor)) << name;
    }
  }
}

}  // namespace
}  // namespace proca::methods

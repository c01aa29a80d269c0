#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "proca/methods/method.h"
#include "support/message_of.h"
#include "support/method_run.h"

namespace proca::methods {
namespace {

using test::MethodRun;
using Terms = std::vector<LossTerm>;
using State = std::map<std::string, torch::Tensor>;

// Two epochs on the source, one of warm-up, then adaptation.
constexpr int64_t kSourceEpochs = 2, kWarmUp = 2, kAdaptation = 3;

test::MethodOnNetwork build(std::vector<std::pair<std::string, std::string>> values = {},
                            int64_t num_classes = 3) {
  values.insert(values.begin(), {{"source-epochs", "2"}, {"warm-up-epochs", "1"}});
  return test::build_method(find_method("cida"), num_classes, values);
}

// Everything there is to train, copied.
State parameters_of(test::MethodOnNetwork& built) {
  State state;
  for (const auto& [name, tensor] : built.network->state()) state[name] = tensor.clone();
  for (const auto& item : built.method->auxiliary_modules()->named_parameters()) {
    state["auxiliary." + item.key()] = item.value().detach().clone();
  }
  return state;
}

// Names of what differs.
std::set<std::string> changed(const State& before, const State& after) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : before) {
    if (!torch::equal(tensor, after.at(name))) names.insert(name);
  }
  return names;
}

// Weights and biases of the encoder's and the decoder's linear layers.
std::set<std::string> coders() {
  std::set<std::string> names;
  for (const auto* layer : {"2", "4", "5", "7"}) {
    names.insert(std::string("neck.") + layer + ".weight");
    names.insert(std::string("neck.") + layer + ".bias");
  }
  return names;
}

// Lets batch-norm's running statistics become those of the images: in a few iterations they
// hardly move, and latent features in evaluation mode would be nothing like those in training.
void settle(models::ClassifierNetwork network, const test::FakeStep& images) {
  const torch::NoGradGuard no_grad;
  network->train();
  const auto batch = images.planned_batch({}, 0, 12);
  for (int64_t i = 0; i < 60; ++i) network->forward(batch.source_images);
}

std::vector<std::string> names_of(const Terms& terms) {
  std::vector<std::string> names;
  for (const auto& term : terms) names.emplace_back(term.name);
  return names;
}

class CidaTest : public ::testing::Test {
 protected:
  static MethodRun::Options training(int64_t epochs = 2) { return {.epochs = epochs, .lr = 0.01}; }

  test::MethodOnNetwork cida_ = build();
  test::FakeStep images_{cida_.network, 12, 8, {0, 2}};
};

TEST_F(CidaTest, TrainsOnTheSourceFirstThenOnTheTargetAlone) {
  EXPECT_EQ(cida_.method->extra_epochs(0), 3);
  EXPECT_EQ(cida_.method->extra_epochs(1), 0);
  EXPECT_TRUE(cida_.method->uses_source(0));
  EXPECT_FALSE(cida_.method->uses_source(1));
  MethodRun run(cida_, images_, training());
  std::map<int64_t, std::vector<std::string>> terms_of_epoch;
  run.watch = [&](const StepContext& context, const Terms& terms) {
    const auto plan = cida_.method->plan_epoch(context);
    EXPECT_EQ(plan.source, context.epoch < kSourceEpochs);
    EXPECT_EQ(plan.target, context.epoch >= kSourceEpochs);
    terms_of_epoch[context.epoch] = names_of(terms);
  };
  run.run_step(0);
  using Names = std::vector<std::string>;
  EXPECT_EQ(terms_of_epoch[0], (Names{"source"})) << "there are no Gaussians yet";
  EXPECT_EQ(terms_of_epoch[1], (Names{"source", "separation", "negatives"}));
  EXPECT_EQ(terms_of_epoch[kWarmUp], (Names{"proxy-classes", "reconstruction"}));
  EXPECT_EQ(terms_of_epoch[kAdaptation],
            (Names{"guides-apart", "guide-attraction", "confident-classes", "proxy-classes",
                   "reconstruction"}));
}

TEST_F(CidaTest, NeverReadsSourceImagesWhileAdapting) {
  MethodRun run(cida_, images_, training());
  run.adjust = [](StepContext& context) {
    if (context.step == 0 && context.epoch < kSourceEpochs) return;
    context.for_each_source_batch = [](const StepContext::BatchFunction&) {
      throw Error("source images");
    };
    context.source_centres = [](ModelChoice) -> torch::Tensor { throw Error("source centres"); };
  };
  int64_t iterations = 0;
  run.watch = [&](const StepContext&, const Terms&) { ++iterations; };
  for (int64_t step = 0; step < 2; ++step) EXPECT_NO_THROW(run.run_step(step));
  EXPECT_EQ(iterations, (3 + 2 + 2) * MethodRun::kIterations);
}

TEST_F(CidaTest, TheSourcePhaseTrainsAllButEncoderDecoderAndGuides) {
  const auto before = parameters_of(cida_);
  MethodRun run(cida_, images_, training());
  run.stop = [](const StepContext& context) {
    return context.epoch == 1 && context.iteration == 1;
  };
  run.run_step(0);
  const auto names = changed(before, parameters_of(cida_));
  for (const auto* name : {"conv1.weight", "neck.0.weight", "neck.1.weight", "fc.weight",
                           "auxiliary.negative.weight"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_FALSE(names.contains("auxiliary.guides"));
  for (const auto& name : coders()) EXPECT_FALSE(names.contains(name)) << name;
}

TEST_F(CidaTest, AFrozenBackboneStaysAsItIs) {
  auto frozen = build({{"freeze-backbone", "true"}});
  test::FakeStep images(frozen.network, 12, 8, {0, 2});
  const auto before = parameters_of(frozen);
  MethodRun run(frozen, images, training());
  run.stop = [](const StepContext& context) { return context.epoch == 1; };
  run.run_step(0);
  EXPECT_TRUE(frozen.network->backbone()->is_training()) << "its mode comes back";
  for (const auto& name : changed(before, parameters_of(frozen))) {
    EXPECT_TRUE(name.starts_with("neck.") || name.starts_with("fc.") ||
                name.starts_with("auxiliary."))
        << name;
  }
}

TEST_F(CidaTest, AdaptationLeavesWhatIsFrozenAloneAndNoGradientsBehind) {
  State before, between;
  MethodRun run(cida_, images_, training());
  run.watch = [&](const StepContext& context, const Terms&) {
    if (context.epoch < kSourceEpochs && context.step == 0) return;
    for (const auto& parameter : cida_.network->parameters()) {
      EXPECT_FALSE(parameter.grad().defined());
    }
    if (context.step == 0 && context.epoch == kWarmUp) between = parameters_of(cida_);
  };
  run.adjust = [&](StepContext& context) {
    if (context.step == 0 && context.epoch == kSourceEpochs) before = parameters_of(cida_);
  };
  run.run_step(0);
  EXPECT_EQ(changed(before, between), coders()) << "in the warm-up";
  auto expected = coders();
  expected.insert("auxiliary.guides");
  EXPECT_EQ(changed(before, parameters_of(cida_)), expected);
  const auto after_first = parameters_of(cida_);
  run.run_step(1);
  EXPECT_EQ(changed(after_first, parameters_of(cida_)), expected);
}

TEST_F(CidaTest, GuidesStartAtTheEncodedMeansAndAreCarriedOver) {
  torch::Tensor guides;
  const auto current = [&] {
    return cida_.method->auxiliary_modules()->named_parameters()["guides"].detach().clone();
  };
  MethodRun run(cida_, images_, {.epochs = 1, .lr = 0.01});
  run.adjust = [&](StepContext& context) {
    if (context.step == 0 && context.epoch == kAdaptation) {
      const torch::NoGradGuard no_grad;
      guides = models::Neck(cida_.network->neck())
                   ->forward_part(cida_.method->save().at("gaussians.means"), 2, 5);
    }
  };
  run.run_step(0);
  // Four updates of Adam (two iterations, two objectives that depend on the guides) at a rate
  // of 1e-4 move no number far.
  EXPECT_LT((current() - guides).abs().max().item<double>(), 2e-3);
  EXPECT_GT((current() - guides).abs().max().item<double>(), 0);
  const auto after_first = current();
  run.run_step(1);
  EXPECT_LT((current() - after_first).abs().max().item<double>(), 2e-3);
}

TEST_F(CidaTest, ReconstructionAndProxyClassesImprove) {
  auto fast = build({{"warm-up-epochs", "40"}, {"adam-lr", "0.003"}});
  test::FakeStep images(fast.network, 12, 8, {0, 2});
  settle(fast.network, images);
  MethodRun run(fast, images, training());
  std::map<std::string, std::vector<double>> history;
  run.watch = [&](const StepContext& context, const Terms& terms) {
    if (context.epoch >= kSourceEpochs + 40) return;  // Then guides matter.
    for (const auto& term : terms)
      history[std::string(term.name)].push_back(term.value.item<double>());
  };
  run.run_step(0);
  // Single iterations jump at this rate: the last ten together.
  for (const auto* name : {"proxy-classes", "reconstruction"}) {
    const auto& values = history[name];
    EXPECT_LT(std::accumulate(values.end() - 10, values.end(), 0.0) / 10, values.front() / 2)
        << name;
  }
}

TEST_F(CidaTest, GuidesMoveApartAndConfidentImagesGatherAroundThem) {
  auto fast = build({{"adam-lr", "0.003"}, {"confident", "1"}});
  test::FakeStep images(fast.network, 12, 8, {0, 2});
  settle(fast.network, images);
  MethodRun run(fast, images, training(15));
  std::map<std::string, std::vector<double>> history;
  run.watch = [&](const StepContext&, const Terms& terms) {
    for (const auto& term : terms)
      history[std::string(term.name)].push_back(term.value.item<double>());
  };
  run.run_step(0);
  for (const auto* name : {"guides-apart", "guide-attraction"}) {
    EXPECT_LT(history[name].back(), history[name].front() / 2) << name;
  }
}

TEST_F(CidaTest, HalfOfTheImagesAreConfidentAndAtLeastOne) {
  for (const auto& [num_target, expected] : {std::pair<int64_t, int64_t>{8, 4}, {1, 1}}) {
    auto built = build();
    test::FakeStep images(built.network, 12, num_target, {1});
    MethodRun run(built, images, training());
    run.run_step(0);
    EXPECT_EQ(built.method->save().at("adaptation.confident").sum().item<int64_t>(), expected);
  }
}

TEST_F(CidaTest, WithoutConfidentImagesTheirLossesAreLeftOut) {
  auto built = build({{"confident", "0"}});
  test::FakeStep images(built.network, 12, 8, {1});
  MethodRun run(built, images, training());
  Terms last;
  run.watch = [&](const StepContext&, const Terms& terms) { last = terms; };
  run.run_step(0);
  EXPECT_EQ(names_of(last),
            (std::vector<std::string>{"guides-apart", "proxy-classes", "reconstruction"}));
}

// Two source images of three classes: the third has no Gaussian.
TEST_F(CidaTest, AClassWithoutSourceImagesHasNoGuide) {
  test::FakeStep images(cida_.network, 2, 8, {2});
  MethodRun run(cida_, images, {.epochs = 2, .batch_size = 2, .lr = 0.01});
  run.watch = [](const StepContext&, const Terms& terms) {
    for (const auto& term : terms) {
      EXPECT_TRUE(std::isfinite(term.value.item<double>())) << term.name;
    }
  };
  torch::Tensor start;
  run.adjust = [&](StepContext& context) {
    if (context.step == 1 && context.epoch == 0) {
      start = cida_.method->auxiliary_modules()->named_parameters()["guides"].detach().clone();
    }
  };
  run.run_step(0);
  EXPECT_TRUE(torch::equal(cida_.method->save().at("gaussians.classes"), torch::tensor({0, 1})));
  run.run_step(1);
  const auto guides = cida_.method->auxiliary_modules()->named_parameters()["guides"];
  EXPECT_TRUE(torch::equal(guides[2], start[2]));
  EXPECT_FALSE(torch::equal(guides[0], start[0]));
}

TEST_F(CidaTest, GoesOnBitEqualFromACheckpointInEveryPhase) {
  MethodRun whole(cida_, images_, training());
  whole.run_step(0);
  whole.run_step(1);
  const auto expected = parameters_of(cida_);
  const std::vector<test::RunPosition> places = {
      {0, 0, 1}, {0, 1, 1}, {0, kWarmUp, 1}, {0, kAdaptation, 1}, {0, kAdaptation + 1, 1},
      {1, 1, 1}};
  for (const auto& place : places) {
    auto first = build(), second = build();
    test::FakeStep images(first.network, 12, 8, {0, 2}), again(second.network, 12, 8, {0, 2});
    MethodRun beginning(first, images, training());
    beginning.stop = [&](const StepContext& context) {
      return context.step == place.step && context.epoch == place.epoch &&
             context.iteration + 1 == place.iteration;
    };
    if (beginning.run_step(0)) beginning.run_step(1);
    test::copy_state(first, second);
    auto options = training();
    options.start = place;
    MethodRun rest(second, again, options);
    for (int64_t step = place.step; step < 2; ++step) rest.run_step(step);
    EXPECT_TRUE(changed(expected, parameters_of(second)).empty())
        << "step " << place.step << ", epoch " << place.epoch;
  }
}

TEST_F(CidaTest, RefusesALaterStepWithoutTheFirst) {
  auto context = images_.context();
  context.step = 1;
  EXPECT_EQ(test::message_of<Error>([&] { cida_.method->begin_step(context); }),
            "cida: step 2 finds no Gaussians of the source, which step 1 makes");
}

TEST_F(CidaTest, RefusesANetworkWithOtherLayers) {
  auto network = test::small_network(3);
  network->insert_neck("linear 8", 0);
  OptionSet options;
  const auto factory = find_method("cida").configure(options);
  EXPECT_EQ(test::message_of<InputError>([&] {
              factory(network, 0);
            }).rfind("cida: the network has the neck \"linear 8\", not \"", 0),
            0u);
}

}  // namespace
}  // namespace proca::methods

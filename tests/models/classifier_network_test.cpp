#include "proca/models/classifier_network.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "proca/core/error.h"
#include "support/formula.h"

namespace proca::models {
namespace {

// Gives each image's mean colour: three features, no parameters.
class MeanColour : public Backbone {
 public:
  torch::Tensor forward(const torch::Tensor& images) override { return images.mean({2, 3}); }
  int64_t feature_size() const override { return 3; }
};

TEST(ClassifierNetworkTest, LogitsAreTheHeadOfTheFeatures) {
  ClassifierNetwork network(std::make_shared<MeanColour>(), 2, 0);
  torch::NoGradGuard no_grad;
  network->head()->weight.copy_(torch::tensor({{1.0, 2.0, 3.0}, {0.0, 0.0, -1.0}}));
  network->head()->bias.copy_(torch::tensor({0.5, 0.0}));
  const auto images = torch::tensor({1.0, 10.0, 100.0}).view({1, 3, 1, 1}).expand({1, 3, 4, 4});
  const auto output = network->forward(images);
  EXPECT_TRUE(output.features.equal(torch::tensor({{1.0, 10.0, 100.0}}).to(torch::kFloat32)));
  // 1 + 20 + 300 + 0.5 and -100.
  EXPECT_TRUE(output.logits.equal(torch::tensor({{321.5, -100.0}}).to(torch::kFloat32)));
}

TEST(ClassifierNetworkTest, TheHeadStartsUniformWithinOneOverTheRootOfTheFeatures) {
  const ClassifierNetwork network(make_backbone({.name = "resnet18"}), 1000, 3);
  const double bound = 1.0 / std::sqrt(512.0);
  for (const auto& parameter : network->head_parameters()) {
    EXPECT_LE(parameter.abs().max().item<double>(), bound);
    EXPECT_GT(parameter.abs().max().item<double>(), 0.99 * bound);
    EXPECT_NEAR(parameter.mean().item<double>(), 0.0, 0.1 * bound);
    EXPECT_TRUE(parameter.requires_grad());
  }
  EXPECT_EQ(network->head()->options.out_features(), 1000);
}

TEST(ClassifierNetworkTest, TheHeadsStartDependsOnItsSeedAlone) {
  torch::manual_seed(5);
  const auto untouched = torch::rand({1});
  torch::manual_seed(5);
  const ClassifierNetwork a(std::make_shared<MeanColour>(), 4, 1);
  EXPECT_TRUE(torch::rand({1}).equal(untouched)) << "drew from the global generator";
  const ClassifierNetwork b(std::make_shared<MeanColour>(), 4, 1);
  const ClassifierNetwork c(std::make_shared<MeanColour>(), 4, 2);
  EXPECT_TRUE(a->head()->weight.equal(b->head()->weight));
  EXPECT_FALSE(a->head()->weight.equal(c->head()->weight));
}

TEST(ClassifierNetworkTest, StateHoldsTheLiveTensors) {
  const ClassifierNetwork network(make_backbone({.name = "resnet-small"}), 5, 0);
  torch::NoGradGuard no_grad;
  network->state().at("fc.bias").fill_(2.5);
  network->state().at("bn1.running_mean").fill_(1.5);
  EXPECT_TRUE(network->head()->bias.eq(2.5).all().item<bool>());
  EXPECT_TRUE(network->backbone()->named_buffers()["bn1.running_mean"].eq(1.5).all().item<bool>());
}

TEST(ClassifierNetworkTest, PartsTogetherAreTheWhole) {
  const ClassifierNetwork network(make_backbone({.name = "resnet-small"}), 5, 0);
  EXPECT_EQ(network->backbone_parameters().size() + network->head_parameters().size(),
            network->parameters().size());
  EXPECT_EQ(network->feature_size(), 64);
  EXPECT_EQ(network->num_classes(), 5);
}

TEST(ClassifierNetworkTest, ANeckStandsBetweenBackboneAndAFreshHead) {
  ClassifierNetwork network(std::make_shared<MeanColour>(), 2, 0);
  const auto old_head = network->head()->weight.clone();
  network->insert_neck("linear 2, relu", 0);
  EXPECT_EQ(network->neck_layout(), "linear 2, relu");
  EXPECT_EQ(network->feature_size(), 2);
  EXPECT_EQ(network->head()->weight.size(1), 2);
  EXPECT_EQ(network->neck_parameters().size(), 2u);
  torch::NoGradGuard no_grad;
  network->state().at("neck.0.weight").copy_(torch::tensor({{1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}}));
  network->state().at("neck.0.bias").zero_();
  network->head()->weight.copy_(torch::tensor({{2.0, 1.0}, {0.0, 1.0}}));
  network->head()->bias.copy_(torch::tensor({0.5, 0.25}));
  const auto images = torch::tensor({3.0, 10.0, 100.0}).view({1, 3, 1, 1}).expand({1, 3, 4, 4});
  const auto output = network->forward(images);
  // relu(3, -10) = (3, 0); 2 * 3 + 0.5 and 0.25.
  EXPECT_TRUE(output.features.equal(torch::tensor({{3.0, 0.0}}).to(torch::kFloat32)));
  EXPECT_TRUE(output.logits.equal(torch::tensor({{6.5, 0.25}}).to(torch::kFloat32)));
}

TEST(ClassifierNetworkTest, ANecksStartDependsOnItsSeedAlone) {
  const auto weight_of = [](uint64_t seed) {
    ClassifierNetwork network(std::make_shared<MeanColour>(), 2, 0);
    network->insert_neck("linear 4, batch-norm, elu, linear 3", seed);
    return network->state().at("neck.3.weight").clone();
  };
  EXPECT_TRUE(weight_of(1).equal(weight_of(1)));
  EXPECT_FALSE(weight_of(1).equal(weight_of(2)));
}

TEST(ClassifierNetworkTest, ANeckThatCannotBeReadIsRefused) {
  for (const char* layout : {"", "linear", "linear 0", "linear 2x", "linear 99999999999999999999",
                             "conv 3", "linear 4,,relu", "linear 4, Relu"}) {
    ClassifierNetwork network(std::make_shared<MeanColour>(), 2, 0);
    EXPECT_THROW(network->insert_neck(layout, 0), InputError) << layout;
  }
}

// Gives the groups' outputs, and leaves the gradients of a sum with fixed weights.
std::vector<NetworkOutput> train_on_groups(ClassifierNetwork& network, bool together) {
  const auto type = network->head()->weight.scalar_type();
  std::vector<torch::Tensor> groups;
  for (const int64_t size : {3, 5, 2}) {
    groups.push_back(test::formula_images(10, 16).narrow(0, size - 2, size).to(type) * size);
  }
  std::vector<NetworkOutput> outputs;
  if (together) {
    outputs = network->forward_each(groups);
  } else {
    for (const auto& images : groups) outputs.push_back(network->forward(images));
  }
  torch::Tensor loss;
  for (const auto& output : outputs) {
    const auto part =
        (output.logits * test::formula("of logits", output.logits.sizes())).sum() +
        (output.features * test::formula("of features", output.features.sizes())).sum();
    loss = loss.defined() ? loss + part : part;
  }
  loss.backward();
  return outputs;
}

void expect_groups_in_one_call_are_like_one_call_each(const std::string& neck, bool training,
                                                      torch::ScalarType type) {
  SCOPED_TRACE(c10::str("neck '", neck, "', training ", training, ", ", type));
  const auto make = [&] {
    ClassifierNetwork network(make_backbone({.name = "resnet-small"}), 5, 0);
    if (!neck.empty()) network->insert_neck(neck, 0);
    test::fill_by_formula(network);
    network->to(type);
    network->train(training);
    return network;
  };
  auto one = make(), other = make();
  const auto actual = train_on_groups(one, /*together=*/true);
  const auto expected = train_on_groups(other, /*together=*/false);
  // Convolutions of more images may add up in another order.
  const double tolerance = type == torch::kFloat32 ? 1e-5 : 1e-12;
  ASSERT_EQ(actual.size(), 3u);
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_LT(test::largest_difference(actual[i].features, expected[i].features), tolerance);
    EXPECT_LT(test::largest_difference(actual[i].logits, expected[i].logits), tolerance);
  }
  const auto state = one->state(), expected_state = other->state();
  for (const auto& [name, tensor] : state) {
    const auto& reference = expected_state.at(name);
    EXPECT_LT(test::largest_difference(tensor, reference), tolerance) << name;
    if (!tensor.requires_grad()) continue;
    // A gradient is a sum over all pixels: its rounding is that of the largest.
    const double largest = std::max(1.0, reference.grad().abs().max().item<double>());
    EXPECT_LT((tensor.grad() - reference.grad()).abs().max().item<double>(),
              10 * tolerance * largest)
        << name;
  }
  EXPECT_EQ(state.at("layer3.1.bn2.num_batches_tracked").item<int64_t>(), training ? 3 : 0);
}

TEST(ClassifierNetworkTest, GroupsInOneCallAreLikeOneCallForEach) {
  const std::string neck = "linear 20, batch-norm, relu";
  for (const bool training : {true, false}) {
    expect_groups_in_one_call_are_like_one_call_each("", training, torch::kFloat32);
    expect_groups_in_one_call_are_like_one_call_each(neck, training, torch::kFloat32);
  }
  expect_groups_in_one_call_are_like_one_call_each(neck, /*training=*/true, torch::kFloat64);
}

TEST(ClassifierNetworkTest, ABackboneThatKnowsNoGroupsIsAskedOneByOne) {
  ClassifierNetwork network(std::make_shared<MeanColour>(), 2, 0);
  EXPECT_THROW(network->backbone()->forward_groups(torch::ones({3, 3, 4, 4}), {2, 1}), c10::Error);
  const auto outputs =
      network->forward_each({torch::ones({2, 3, 4, 4}), torch::zeros({1, 3, 4, 4})});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_TRUE(outputs[0].features.equal(torch::ones({2, 3})));
  EXPECT_TRUE(outputs[1].features.equal(torch::zeros({1, 3})));
}

TEST(ClassifierNetworkTest, ABackboneWithALayerNamedLikeTheHeadIsRefused) {
  auto backbone = std::make_shared<MeanColour>();
  backbone->register_module("fc", torch::nn::Linear(1, 1));
  EXPECT_THROW(ClassifierNetwork(backbone, 2, 0), InputError);
}

}  // namespace
}  // namespace proca::models

#include "models/nets/resnet.h"

#include <fstream>

#include <gtest/gtest.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"
#include "support/formula.h"

namespace proca::models {
namespace {

nlohmann::json golden() {
  std::ifstream file(PROCA_TEST_DATA "/parity.json");
  return nlohmann::json::parse(file);
}

torch::Tensor vector_of(const nlohmann::json& values) {
  return torch::tensor(values.get<std::vector<double>>(), torch::kFloat64);
}

torch::Tensor matrix_of(const nlohmann::json& rows) {
  std::vector<torch::Tensor> result;
  for (const auto& row : rows) result.push_back(vector_of(row));
  return torch::stack(result);
}

// Float32 sums in another order differ by some 1e-6 of the logits, which are below 10.
constexpr double kTolerance = 1e-4;

void expect_agrees(const NetworkOutput& output, const nlohmann::json& expected) {
  EXPECT_LT(test::largest_difference(output.logits, matrix_of(expected["logits"])), kTolerance);
  EXPECT_LT(test::largest_difference(output.features.to(torch::kFloat64).sum(1),
                                     vector_of(expected["feature_sums"])),
            kTolerance);
}

TEST(ResNetTest, AgreesWithTorchvisionInEvaluationMode) {
  const auto expected = golden();
  const struct {
    const char *golden_name, *backbone;
    StrideIn stride_in;
  } cases[] = {{"resnet18 3x3", "resnet18", StrideIn::k3x3},
               {"resnet50 3x3", "resnet50", StrideIn::k3x3},
               {"resnet50 1x1", "resnet50", StrideIn::k1x1}};
  for (const auto& [golden_name, backbone, stride_in] : cases) {
    SCOPED_TRACE(golden_name);
    torch::NoGradGuard no_grad;
    auto network = test::formula_network(backbone, expected["num_classes"], stride_in);
    expect_agrees(network->forward(test::formula_images(2, 64)), expected["eval"][golden_name]);
  }
}

TEST(ResNetTest, AgreesWithTorchvisionInTrainingModeAndKeepsTheSameStatistics) {
  const auto expected = golden();
  auto network = test::formula_network("resnet18", expected["num_classes"]);
  network->train();
  expect_agrees(network->forward(test::formula_images(2, 64)), expected["train"]);

  const auto state = network->state();
  for (const auto& [name, values] : expected["train"]["statistics"].items()) {
    const auto reference = vector_of(values);
    const auto actual = state.at(name).slice(0, 0, reference.size(0));
    EXPECT_LT(test::largest_difference(actual, reference), kTolerance) << name;
  }
  EXPECT_EQ(state.at("layer3.1.bn1.num_batches_tracked").item<int64_t>(), 1);
}

TEST(ResNetTest, UsesTorchvisionsNamesAndShapes) {
  const ClassifierNetwork network(make_backbone({.name = "resnet50"}), 31, 0);
  const auto state = network->state();
  // 53 convolutions, 53 batch-norms of 5 tensors each, and 2 of the classifier.
  EXPECT_EQ(state.size(), 53 + 53 * 5 + 2);
  const std::vector<std::pair<std::string, std::vector<int64_t>>> some = {
      {"conv1.weight", {64, 3, 7, 7}},
      {"bn1.running_var", {64}},
      {"layer1.0.downsample.0.weight", {256, 64, 1, 1}},
      {"layer2.0.downsample.1.bias", {512}},
      {"layer3.5.conv2.weight", {256, 256, 3, 3}},
      {"layer4.2.bn3.num_batches_tracked", {}},
      {"fc.weight", {31, 2048}}};
  for (const auto& [name, shape] : some) {
    ASSERT_TRUE(state.contains(name)) << name;
    EXPECT_EQ(state.at(name).sizes(), torch::IntArrayRef(shape)) << name;
  }
}

// Parameter counts of torchvision's documentation, which include 1000 classes.
TEST(ResNetTest, EveryDepthHasItsPublishedNumberOfParameters) {
  const std::pair<const char*, int64_t> published[] = {{"resnet18", 11689512},
                                                       {"resnet34", 21797672},
                                                       {"resnet50", 25557032},
                                                       {"resnet101", 44549160},
                                                       {"resnet152", 60192808}};
  for (const auto& [name, count] : published) {
    const ClassifierNetwork network(make_backbone({.name = name}), 1000, 0);
    int64_t parameters = 0;
    for (const auto& parameter : network->parameters()) parameters += parameter.numel();
    EXPECT_EQ(parameters, count) << name;
  }
}

TEST(ResNetTest, TheSmallOneHasThreeStagesAndNoPooling) {
  ResNet network(resnet_layout("resnet-small"), 0);
  EXPECT_EQ(network.feature_size(), 64);
  LayerGraph graph;
  network.describe(graph);
  for (const auto& layer : graph.layers) EXPECT_NE(layer.kind, LayerKind::kMaxPool);
  EXPECT_EQ(network.named_parameters().contains("layer3.1.conv2.weight"), true);
  EXPECT_EQ(network.named_parameters().contains("layer4.0.conv1.weight"), false);
  EXPECT_EQ(network.forward(torch::zeros({2, 3, 32, 32})).sizes(), torch::IntArrayRef({2, 64}));
}

TEST(ResNetTest, ItsStartDependsOnItsSeedAlone) {
  torch::manual_seed(5);
  const auto untouched = torch::rand({1});
  torch::manual_seed(5);
  const ResNet first(resnet_layout("resnet-small"), 7);
  EXPECT_TRUE(torch::rand({1}).equal(untouched)) << "drew from the global generator";
  const ResNet same(resnet_layout("resnet-small"), 7), other(resnet_layout("resnet-small"), 8);
  const auto a = first.parameters(), b = same.parameters(), c = other.parameters();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i]));
  EXPECT_FALSE(a.front().equal(c.front()));
}

TEST(ResNetTest, ConvolutionsStartWithTheVarianceHeGivesThem) {
  const ResNet network(resnet_layout("resnet18"), 0);
  const auto weight = network.named_parameters()["layer4.1.conv2.weight"];
  // 2 / (512 * 9) over 2.4 million draws: the estimate is good to 0.1 %.
  EXPECT_NEAR(weight.var().item<double>(), 2.0 / (512 * 9), 2.0 / (512 * 9) * 0.005);
  EXPECT_NEAR(weight.mean().item<double>(), 0.0, 1e-4);
  EXPECT_TRUE(network.named_parameters()["bn1.weight"].eq(1).all().item<bool>());
  EXPECT_TRUE(network.named_parameters()["bn1.bias"].eq(0).all().item<bool>());
}

TEST(ResNetTest, GradientsReachEveryParameterOfEitherMemoryLayout) {
  for (const auto layout : {torch::MemoryFormat::Contiguous, torch::MemoryFormat::ChannelsLast}) {
    ResNet network(resnet_layout("resnet-small"), 0);
    network.forward(test::formula_images(4, 32).contiguous(layout)).square().sum().backward();
    for (const auto& item : network.named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0.0) << item.key();
    }
  }
}

TEST(BackboneTest, AnUnknownNameIsRefusedWithTheNearestKnownOne) {
  const std::pair<const char*, const char*> cases[] = {
      {"resnet5", "did you mean 'resnet50'?"}, {"vgg16", "known are resnet18, "}, {"", "''"}};
  for (const auto& [name, part] : cases) {
    try {
      make_backbone({.name = name});
      ADD_FAILURE() << name << " was accepted";
    } catch (const InvalidOption& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

TEST(BackboneTest, EveryKnownNameCanBeBuilt) {
  for (const auto& name : backbone_names()) {
    EXPECT_GT(make_backbone({.name = name})->feature_size(), 0) << name;
  }
}

}  // namespace
}  // namespace proca::models

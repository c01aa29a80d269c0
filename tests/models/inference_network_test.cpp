#include "models/inference/inference_network.h"

#include <set>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "support/formula.h"

namespace proca::models {
namespace {

TEST(LayerGraphTest, EveryLayerReadsFromEarlierOnesAndFindsItsTensors) {
  const auto network = test::formula_network("resnet50", 3);
  const auto graph = describe(network);
  const auto state = network->state();
  std::set<std::string> known = {LayerGraph::kInput};
  std::set<std::string> used;
  for (const auto& layer : graph.layers) {
    for (const auto& input : layer.inputs) EXPECT_TRUE(known.contains(input)) << layer.name;
    EXPECT_TRUE(known.insert(layer.name).second) << layer.name << " appears twice";
    for (const auto& [name, tensor] : state) {
      if (name.starts_with(layer.name + ".") &&
          name.find('.', layer.name.size() + 1) == std::string::npos) {
        used.insert(name);
      }
    }
  }
  EXPECT_EQ(used.size(), state.size()) << "some tensors belong to no layer";
  EXPECT_EQ(graph.features, "avgpool");
  EXPECT_EQ(graph.logits, "fc");
}

TEST(InferenceNetworkTest, EqualsEvaluationMode) {
  torch::NoGradGuard no_grad;
  const std::tuple<const char*, StrideIn, int64_t> cases[] = {{"resnet18", StrideIn::k3x3, 64},
                                                              {"resnet50", StrideIn::k3x3, 64},
                                                              {"resnet50", StrideIn::k1x1, 65},
                                                              {"resnet-small", StrideIn::k3x3, 32}};
  for (const auto& [name, stride_in, size] : cases) {
    SCOPED_TRACE(name);
    auto network = test::formula_network(name, 7, stride_in);
    const auto images = test::formula_images(3, size);
    const auto expected = network->forward(images);
    const auto actual = make_predictor(network)(images);
    EXPECT_LT(test::largest_difference(actual.features, expected.features), 1e-4);
    EXPECT_LT(test::largest_difference(actual.logits, expected.logits), 1e-4);
  }
}

TEST(InferenceNetworkTest, EqualsEvaluationModeWithANeck) {
  torch::NoGradGuard no_grad;
  for (const char* layout : {"linear 5", "linear 6, batch-norm, relu", "linear 6, batch-norm",
                             "linear 6, batch-norm, linear 4, elu, linear 5"}) {
    SCOPED_TRACE(layout);
    auto network = test::formula_network("resnet-small", 7);
    network->insert_neck(layout, 3);
    for (const auto& [name, tensor] : network->state()) {
      if (name.ends_with("running_mean") && name.starts_with("neck")) tensor.fill_(0.5);
      if (name.ends_with("running_var") && name.starts_with("neck")) tensor.fill_(2.0);
    }
    network->eval();
    const auto images = test::formula_images(3, 32);
    const auto expected = network->forward(images);
    const auto actual = make_predictor(network)(images);
    EXPECT_LT(test::largest_difference(actual.features, expected.features), 1e-4);
    EXPECT_LT(test::largest_difference(actual.logits, expected.logits), 1e-4);
  }
}

// bfloat16 has 8 bits, and a resnet18 rounds some twenty times in a row.
// Doubles stand for bfloat16, which not every CPU can multiply.
TEST(InferenceNetworkTest, ComputesInTheTypeItIsGivenAndAnswersInFloats) {
  torch::NoGradGuard no_grad;
  for (const char* name : {"resnet-small", "resnet18"}) {
    SCOPED_TRACE(name);
    auto network = test::formula_network(name, 7);
    const auto images = test::formula_images(2, 32);
    const auto actual = make_predictor(network, torch::kFloat64)(images);
    EXPECT_EQ(actual.features.scalar_type(), torch::kFloat32);
    EXPECT_EQ(actual.logits.scalar_type(), torch::kFloat32);
    const auto in_floats = make_predictor(network, torch::kFloat32)(images);
    network->to(torch::kFloat64);
    const auto expected = network->forward(images.to(torch::kFloat64));
    const auto error = [](const torch::Tensor& actual, const torch::Tensor& expected) {
      return ((actual - expected).norm() / expected.norm()).item<double>();
    };
    // Rounded behind the convolutions; the classifier is in floats.
    EXPECT_LT(error(actual.features, expected.features), 1e-7);
    EXPECT_LT(error(actual.logits, expected.logits), 1e-6);
    EXPECT_GT(error(in_floats.features, expected.features),
              error(actual.features, expected.features));
  }
}

// One pixel, hand-computed: a = -3 x, b = 2 x, and with x = 5 the graphs below come to
// what stands beside them.
TEST(InferenceNetworkTest, WhatFollowsAConvolutionIsDoneToItsResultAlone) {
  using Kind = LayerKind;
  const Layer a{.kind = Kind::kConvolution, .name = "a", .inputs = {LayerGraph::kInput}};
  const Layer b{.kind = Kind::kConvolution, .name = "b", .inputs = {LayerGraph::kInput}};
  const auto relu = [](const char* of) {
    return Layer{.kind = Kind::kRelu, .name = "r", .inputs = {of}};
  };
  const auto add = [](std::vector<std::string> of) {
    return Layer{.kind = Kind::kAdd, .name = "s", .inputs = std::move(of)};
  };
  const Layer twice{.kind = Kind::kAdd, .name = "t", .inputs = {"s", "a"}};
  const std::tuple<const char*, std::vector<Layer>, double> cases[] = {
      {"rectified", {a, relu("a")}, 0},
      {"read twice: max(0, -15) - 15", {a, relu("a"), add({"r", "a"})}, -15},
      {"added, rectified: max(0, -15 + 10)", {a, b, add({"a", "b"}), relu("s")}, 0},
      {"rectified, added: max(0, -15) + 10", {a, relu("a"), b, add({"r", "b"})}, 10},
      {"the later one rectified: -15 + max(0, 10)", {a, b, relu("b"), add({"a", "r"})}, -5},
      {"the images added: -15 + 5", {a, add({"a", LayerGraph::kInput})}, -10},
      {"sum read again: (-15 + 10) - 15", {a, b, add({"b", "a"}), twice}, -20},
      {"a sum of itself: -15 - 15", {a, add({"a", "a"})}, -30}};
  for (const auto& [what, layers, expected] : cases) {
    SCOPED_TRACE(what);
    LayerGraph graph;
    graph.layers = layers;
    graph.features = graph.logits = graph.append(
        {.kind = Kind::kGlobalAveragePool, .name = "p", .inputs = {layers.back().name}});
    const InferenceNetwork network({graph,
                                    {{"a.weight", torch::full({1, 1, 1, 1}, -3.0)},
                                     {"b.weight", torch::full({1, 1, 1, 1}, 2.0)}}});
    const auto images = torch::full({1, 1, 1, 1}, 5.0);
    EXPECT_EQ(network(images).logits.item<double>(), expected);
    EXPECT_EQ(images.item<double>(), 5.0);
  }
}

TEST(InferenceNetworkTest, LeavesTheImagesAndTheNetworkAlone) {
  auto network = test::formula_network("resnet-small", 7);
  network->train();
  const auto images = test::formula_images(2, 32).contiguous(torch::MemoryFormat::ChannelsLast);
  const auto images_before = images.clone();
  std::map<std::string, torch::Tensor> before;
  for (const auto& [name, tensor] : network->state()) before[name] = tensor.clone();
  const auto output = make_predictor(network)(images);
  EXPECT_FALSE(output.logits.requires_grad());
  EXPECT_TRUE(images.equal(images_before));
  EXPECT_TRUE(network->is_training());
  for (const auto& [name, tensor] : network->state())
    EXPECT_TRUE(tensor.equal(before[name])) << name;
}

TEST(InferenceNetworkTest, GivesTheSameAnswerTwice) {
  const auto network = test::formula_network("resnet-small", 7);
  const auto predict = make_predictor(network);
  const auto images = test::formula_images(2, 32);
  EXPECT_TRUE(predict(images).logits.equal(predict(images).logits));
}

// One channel, hand-computed: scale 3 / sqrt(4) = 1.5; the weight 2 becomes 3,
// the bias 1 - 1.5 * 5 = -6.5.
TEST(FoldBatchNormsTest, MatchesHandComputedValues) {
  LayerGraph graph;
  graph.append({.kind = LayerKind::kConvolution, .name = "c", .inputs = {LayerGraph::kInput}});
  graph.features = graph.logits =
      graph.append({.kind = LayerKind::kBatchNorm, .name = "b", .inputs = {"c"}, .epsilon = 0.0});
  graph.features = graph.logits =
      graph.append({.kind = LayerKind::kGlobalAveragePool, .name = "p", .inputs = {"b"}});
  const std::map<std::string, torch::Tensor> tensors = {
      {"c.weight", torch::full({1, 1, 1, 1}, 2.0)},
      {"b.weight", torch::tensor({3.0F})},
      {"b.bias", torch::tensor({1.0F})},
      {"b.running_mean", torch::tensor({5.0F})},
      {"b.running_var", torch::tensor({4.0F})}};
  const auto folded = fold_batch_norms(graph, tensors);
  ASSERT_EQ(folded.graph.layers.size(), 2);
  EXPECT_EQ(folded.tensors.at("c.weight").item<double>(), 3.0);
  EXPECT_EQ(folded.tensors.at("c.bias").item<double>(), -6.5);
  const InferenceNetwork network(folded);
  EXPECT_EQ(network(torch::full({1, 1, 2, 2}, 4.0)).logits.item<double>(), 5.5);  // 12 - 6.5
}

// The network may go on training while what was folded is in use.
TEST(FoldBatchNormsTest, KeepsNothingOfTheNetworksOwn) {
  const auto network = test::formula_network("resnet18", 3);
  const auto folded = fold_batch_norms(describe(network), network->state());
  std::map<std::string, torch::Tensor> before;
  for (const auto& [name, tensor] : folded.tensors) before[name] = tensor.clone();
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : network->state()) torch::Tensor(tensor).add_(1);
  for (const auto& [name, tensor] : folded.tensors) {
    EXPECT_TRUE(tensor.equal(before.at(name))) << name;
  }
}

TEST(FoldBatchNormsTest, RefusesABatchNormWithoutItsOwnConvolution) {
  LayerGraph graph;
  graph.append({.kind = LayerKind::kRelu, .name = "r", .inputs = {LayerGraph::kInput}});
  graph.features = graph.logits =
      graph.append({.kind = LayerKind::kBatchNorm, .name = "b", .inputs = {"r"}});
  EXPECT_THROW(fold_batch_norms(graph, {}), c10::Error);
}

}  // namespace
}  // namespace proca::models

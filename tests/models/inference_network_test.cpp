#include "proca/models/inference_network.h"

#include <set>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "formula.h"

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

TEST(FoldBatchNormsTest, RefusesABatchNormWithoutItsOwnConvolution) {
  LayerGraph graph;
  graph.append({.kind = LayerKind::kRelu, .name = "r", .inputs = {LayerGraph::kInput}});
  graph.features = graph.logits =
      graph.append({.kind = LayerKind::kBatchNorm, .name = "b", .inputs = {"r"}});
  EXPECT_THROW(fold_batch_norms(graph, {}), c10::Error);
}

}  // namespace
}  // namespace proca::models

#include "models/nets/script_backbone.h"

#include <fstream>

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/types.h>

#include "models/inference/inference_network.h"
#include "proca/core/error.h"
#include "support/formula.h"
#include "support/temporary_folder.h"

namespace proca::models {
namespace {

// A script of one child `stem` with a weight [4, 3, 1, 1] and a buffer, and the given `forward`.
void write_script(const std::filesystem::path& path, const std::string& body) {
  torch::jit::Module stem("__torch__.Stem");
  stem.register_parameter(
      "weight", test::formula("stem.weight", {4, 3, 1, 1}).set_requires_grad(true), false);
  stem.register_buffer("scale", torch::ones({1}));
  torch::jit::Module root("__torch__.Root");
  root.register_module("stem", stem);
  root.register_attribute("training", c10::BoolType::get(), true);
  root.define("def forward(self, x: Tensor):\n" + body);
  root.save(path.string());
}

constexpr const char* kMaps =
    "    y = torch.conv2d(x, self.stem.weight) * self.stem.scale\n"
    "    if self.training:\n"
    "        y = y + 100.0\n"
    "    return y\n";

std::string failure(const std::filesystem::path& path) {
  try {
    make_backbone({.name = "script:" + path.string()});
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ScriptBackboneTest, AveragesMapsIntoFeatures) {
  const test::TemporaryFolder folder;
  write_script(folder / "maps.pt", kMaps);
  const auto backbone = make_backbone({.name = "script:" + (folder / "maps.pt").string()});
  EXPECT_EQ(backbone->feature_size(), 4);
  backbone->eval();
  const auto images = test::formula_images(2, 8);
  const auto expected =
      torch::conv2d(images, test::formula("stem.weight", {4, 3, 1, 1})).mean({2, 3});
  EXPECT_LT(test::largest_difference(backbone->forward(images), expected), 1e-6);
}

TEST(ScriptBackboneTest, TrainAndEvalReachTheScript) {
  const test::TemporaryFolder folder;
  write_script(folder / "maps.pt", kMaps);
  ClassifierNetwork network(make_backbone({.name = "script:" + (folder / "maps.pt").string()}), 2,
                            0);
  const auto images = test::formula_images(1, 8);
  network->eval();
  const auto evaluated = network->forward(images).features;
  network->train();
  EXPECT_LT(test::largest_difference(network->forward(images).features, evaluated + 100.0), 1e-5);
}

TEST(ScriptBackboneTest, ItsTensorsAreLiveUnderTheirOwnNames) {
  const test::TemporaryFolder folder;
  write_script(folder / "maps.pt", kMaps);
  ClassifierNetwork network(make_backbone({.name = "script:" + (folder / "maps.pt").string()}), 2,
                            0);
  network->eval();
  const auto state = network->state();
  ASSERT_TRUE(state.contains("stem.weight"));
  ASSERT_TRUE(state.contains("stem.scale"));
  const auto images = test::formula_images(1, 8);
  const auto before = network->forward(images).features.detach();

  network->forward(images).features.sum().backward();
  EXPECT_TRUE(state.at("stem.weight").grad().defined());
  torch::optim::SGD optimizer(network->backbone_parameters(), 1.0);
  optimizer.step();
  EXPECT_FALSE(network->forward(images).features.allclose(before));

  torch::NoGradGuard no_grad;
  state.at("stem.scale").zero_();
  EXPECT_TRUE(network->forward(images).features.eq(0).all().item<bool>());
}

TEST(ScriptBackboneTest, AChangeOfDtypeReachesTheScript) {
  const test::TemporaryFolder folder;
  write_script(folder / "maps.pt", kMaps);
  const auto backbone = make_backbone({.name = "script:" + (folder / "maps.pt").string()});
  backbone->to(torch::kFloat64);
  EXPECT_EQ(backbone->forward(torch::zeros({1, 3, 4, 4}, torch::kFloat64)).scalar_type(),
            torch::kFloat64);
}

TEST(ScriptBackboneTest, TriesALargerImageWhenASmallOneFails) {
  const test::TemporaryFolder folder;
  write_script(folder / "large.pt",
               "    return torch.conv2d(x[:, :, 100:, 100:], self.stem.weight)\n");
  EXPECT_EQ(ScriptBackbone(folder / "large.pt").feature_size(), 4);
}

TEST(ScriptBackboneTest, PredictsInEvaluationModeAndReturnsToTraining) {
  const test::TemporaryFolder folder;
  write_script(folder / "maps.pt", kMaps);
  ClassifierNetwork network(make_backbone({.name = "script:" + (folder / "maps.pt").string()}), 2,
                            0);
  EXPECT_FALSE(is_describable(network));
  EXPECT_THROW(describe(network), InputError);
  const auto images = test::formula_images(1, 8);
  const auto predicted = make_predictor(network)(images);
  EXPECT_FALSE(predicted.logits.requires_grad());
  EXPECT_TRUE(network->is_training());
  network->eval();
  EXPECT_TRUE(predicted.features.equal(network->forward(images).features));
}

TEST(ScriptBackboneTest, SaysWhatIsWrongWithAFile) {
  const test::TemporaryFolder folder;
  const auto expect = [&](const char* name, const char* part) {
    const auto message = failure(folder / name);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with((folder / name).string())) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  std::ofstream(folder / "text.pt") << "not a module";
  write_script(folder / "vector.pt", "    return x.flatten()\n");
  write_script(folder / "volume.pt", "    return x.unsqueeze(0)\n");
  write_script(folder / "pair.pt", "    return (x, x)\n");
  write_script(folder / "fails.pt", "    return torch.conv2d(x, self.stem.weight.flatten())\n");
  expect("missing.pt", "cannot be opened");
  expect("text.pt", "is not a TorchScript module");
  expect("vector.pt", "must give [N, D] or [N, D, h, w] for N images; for one it gives [12288]");
  expect("volume.pt", "for one it gives [1, 1, 3, 64, 64]");
  expect("pair.pt", "one tensor of features, not a Tuple");
  expect("fails.pt", "fails on an image of 64 and on one of 224 pixels: ");
}

}  // namespace
}  // namespace proca::models

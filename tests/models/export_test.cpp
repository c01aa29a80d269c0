#include "proca/models/export.h"

#include <cmath>
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/formula.h"
#include "support/temporary_folder.h"

namespace proca::models {
namespace {

const std::vector<std::string> kNames = {"back pack", "bike", "calculator \"x\""};

ExportInfo sample_info(int64_t image_size = 32) {
  return {.class_names = kNames, .image_size = image_size};
}

// A script of one 1x1 convolution at half the resolution: it gives maps.
void write_backbone(const std::filesystem::path& path) {
  torch::jit::Module root("__torch__.Root");
  root.register_parameter("weight", test::formula("weight", {6, 3, 1, 1}), false);
  root.register_attribute("training", c10::BoolType::get(), true);
  root.define(
      "def forward(self, x: Tensor):\n    return torch.conv2d(x, self.weight, None, [2, 2])\n");
  root.save(path.string());
}

TEST(ExportMetadataTest, SaysAllThatIsNeededToUseTheNetwork) {
  auto info = sample_info(48);
  info.extra["step"] = "3";
  const auto network = test::formula_network("resnet50", 3, StrideIn::k1x1);
  const auto metadata = export_metadata(network, info);
  EXPECT_EQ(metadata.at("architecture"), "resnet50");
  EXPECT_EQ(metadata.at("image_size"), "48");
  EXPECT_EQ(metadata.at("mean"), "[0.485,0.456,0.406]");
  EXPECT_EQ(metadata.at("std"), "[0.229,0.224,0.225]");
  EXPECT_EQ(metadata.at("step"), "3");
  EXPECT_EQ(nlohmann::json::parse(metadata.at("class_names")).get<std::vector<std::string>>(),
            kNames);
  EXPECT_EQ(stride_in_of({.tensors = {}, .metadata = metadata, .origin = ""}), StrideIn::k1x1);
}

TEST(ExportMetadataTest, RefusesWhatCannotBeTrue) {
  const auto network = test::formula_network("resnet-small", 3);
  const std::function<void(ExportInfo&)> damages[] = {
      [](auto& info) { info.class_names.pop_back(); }, [](auto& info) { info.class_names.clear(); },
      [](auto& info) { info.image_size = 0; },         [](auto& info) { info.std[1] = 0.0; },
      [](auto& info) { info.std[2] = std::nan(""); },
  };
  for (const auto& damage : damages) {
    auto info = sample_info();
    damage(info);
    EXPECT_THROW(export_metadata(network, info), InputError);
  }
}

TEST(ExportTorchscriptTest, GivesTheSameProbabilitiesAndCarriesItsMetadata) {
  torch::NoGradGuard no_grad;
  const test::TemporaryFolder folder;
  const std::tuple<const char*, StrideIn, int64_t> cases[] = {{"resnet-small", StrideIn::k3x3, 32},
                                                              {"resnet50", StrideIn::k1x1, 64}};
  for (const auto& [name, stride_in, size] : cases) {
    SCOPED_TRACE(name);
    auto network = test::formula_network(name, 3, stride_in);
    export_torchscript(folder / "model.pt", network, sample_info(size));

    torch::jit::ExtraFilesMap files = {{"proca.json", ""}};
    auto module = torch::jit::load((folder / "model.pt").string(), torch::kCPU, files);
    EXPECT_FALSE(module.is_training());
    const auto images = test::formula_images(2, size);
    const auto expected = network->forward(images);
    const auto call = [&](const char* method) {
      return module.get_method(method)({images}).toTensor();
    };
    EXPECT_LT(test::largest_difference(call("probabilities"), expected.logits.softmax(1)), 1e-4);
    EXPECT_LT(test::largest_difference(call("forward"), expected.logits), 1e-4);
    EXPECT_LT(test::largest_difference(call("features"), expected.features), 1e-4);

    const auto metadata = nlohmann::json::parse(files.at("proca.json"));
    EXPECT_EQ(metadata["architecture"], name);
    EXPECT_EQ(metadata["format"], "torchscript");
    EXPECT_EQ(metadata["class_names"], kNames);  // a list, not its text
    EXPECT_EQ(metadata["image_size"], size);
    std::vector<std::string> names;
    for (const c10::IValue& value : module.attr("class_names").toList())
      names.push_back(value.toStringRef());
    EXPECT_EQ(names, kNames);
    EXPECT_EQ(module.attr("image_size").toInt(), size);
    EXPECT_EQ(module.attr("mean").toDoubleVector(), (std::vector<double>{0.485, 0.456, 0.406}));
  }
}

TEST(ExportTorchscriptTest, KeepsTheNeckWhateverTheBackbone) {
  torch::NoGradGuard no_grad;
  const test::TemporaryFolder folder;
  write_backbone(folder / "backbone.pt");
  const auto script = "script:" + (folder / "backbone.pt").string();
  for (const auto& backbone : {std::string("resnet-small"), script}) {
    SCOPED_TRACE(backbone);
    ClassifierNetwork network(make_backbone({.name = backbone}), 3, 0);
    network->insert_neck("linear 6, batch-norm, relu, linear 5, elu", 1);
    network->eval();
    export_torchscript(folder / "model.pt", network, sample_info());
    torch::jit::ExtraFilesMap files = {{"proca.json", ""}};
    auto module = torch::jit::load((folder / "model.pt").string(), torch::kCPU, files);
    const auto images = test::formula_images(2, 32);
    const auto expected = network->forward(images);
    EXPECT_LT(test::largest_difference(module.forward({images}).toTensor(), expected.logits), 1e-5);
    EXPECT_LT(test::largest_difference(module.get_method("features")({images}).toTensor(),
                                       expected.features),
              1e-5);
    EXPECT_EQ(nlohmann::json::parse(files.at("proca.json"))["neck"], network->neck_layout());
  }
}

TEST(ExportTorchscriptTest, KeepsTorchvisionsNames) {
  const test::TemporaryFolder folder;
  const auto network = test::formula_network("resnet-small", 3);
  export_torchscript(folder / "model.pt", network, sample_info());
  const auto module = torch::jit::load((folder / "model.pt").string());
  std::map<std::string, torch::Tensor> exported;
  for (const auto& item : module.named_parameters()) {
    exported[item.name] = item.value;
    EXPECT_TRUE(item.value.requires_grad()) << item.name;
  }
  for (const auto& item : module.named_buffers()) exported[item.name] = item.value;
  const auto state = network->state();
  ASSERT_EQ(exported.size(), state.size());
  for (const auto& [name, tensor] : state) EXPECT_TRUE(exported.at(name).equal(tensor)) << name;
}

TEST(ExportTorchscriptTest, CanBeTrainedFurther) {
  const test::TemporaryFolder folder;
  auto network = test::formula_network("resnet-small", 3);
  export_torchscript(folder / "model.pt", network, sample_info());
  auto module = torch::jit::load((folder / "model.pt").string());
  module.train();
  network->train();
  const auto images = test::formula_images(4, 32);
  const auto logits = module.forward({images}).toTensor();
  EXPECT_LT(test::largest_difference(logits, network->forward(images).logits.detach()), 1e-4);
  logits.sum().backward();
  for (const auto& parameter : module.parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST(ExportTorchscriptTest, KeepsAScriptBackboneWhole) {
  torch::NoGradGuard no_grad;
  const test::TemporaryFolder folder;
  write_backbone(folder / "backbone.pt");
  ClassifierNetwork network(make_backbone({.name = "script:" + (folder / "backbone.pt").string()}),
                            3, 0);
  network->backbone()->parameters().front().mul_(2.0);  // Not what the file holds.
  export_torchscript(folder / "model.pt", network, sample_info());
  EXPECT_TRUE(network->is_training());

  auto module = torch::jit::load((folder / "model.pt").string());
  const auto images = test::formula_images(2, 8);
  const auto probabilities = module.get_method("probabilities")({images}).toTensor();
  EXPECT_LT(test::largest_difference(probabilities, network->forward(images).logits.softmax(1)),
            1e-6);
}

TEST(ExportTorchscriptTest, LeavesNothingBehindWhenItFails) {
  const test::TemporaryFolder folder;
  const auto network = test::formula_network("resnet-small", 3);
  EXPECT_THROW(export_torchscript(folder / "no" / "model.pt", network, sample_info()), InputError);
  auto info = sample_info();
  info.class_names.pop_back();
  EXPECT_THROW(export_torchscript(folder / "model.pt", network, info), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Whether the model means the same in another runtime is the test onnx_runtime.
TEST(ExportOnnxTest, CarriesClassNamesAndTorchvisionsTensorNames) {
  if (!has_onnx_export()) GTEST_SKIP() << "built without ONNX";
  const test::TemporaryFolder folder;
  export_onnx(folder / "model.onnx", test::formula_network("resnet-small", 3), sample_info());
  const auto bytes = read_text_file(folder / "model.onnx");
  for (const char* part :
       {"back pack", "layer2.0.downsample.0.weight", "probabilities", "stride_in"}) {
    EXPECT_NE(bytes.find(part), std::string::npos) << part;
  }
}

TEST(ExportOnnxTest, LeavesNothingBehindWhenItFails) {
  const test::TemporaryFolder folder, scripts;
  const auto network = test::formula_network("resnet-small", 3);
  EXPECT_THROW(export_onnx(folder / "no" / "model.onnx", network, sample_info()), InputError);
  write_backbone(scripts / "backbone.pt");
  const ClassifierNetwork script(
      make_backbone({.name = "script:" + (scripts / "backbone.pt").string()}), 3, 0);
  EXPECT_THROW(export_onnx(folder / "model.onnx", script, sample_info()), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace proca::models

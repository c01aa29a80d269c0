#include "models/weights/load_weights.h"

#include <functional>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "proca/core/error.h"
#include "support/formula.h"

namespace proca::models {
namespace {

ClassifierNetwork make_network(int64_t num_classes = 5) {
  return ClassifierNetwork(make_backbone({.name = "resnet-small", .seed = 1}), num_classes, 1);
}

// A file that fits `make_network(num_classes)`, with values by formula.
WeightFile make_file(int64_t num_classes = 5) {
  WeightFile file{.tensors = {}, .metadata = {}, .origin = "some/weights.pth"};
  for (const auto& [name, tensor] : make_network(num_classes)->state()) {
    file.tensors[name] = test::formula(name, tensor.sizes()).to(tensor.scalar_type());
  }
  return file;
}

std::string failure(ClassifierNetwork& network, const WeightFile& file,
                    HeadPolicy head = HeadPolicy::kMayDiffer) {
  try {
    load_weights(network, file, head);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LoadWeightsTest, CopiesEveryTensorIntoTheLiveOnes) {
  auto network = make_network();
  const auto live = network->state();
  const auto file = make_file();
  const auto report = load_weights(network, file);
  EXPECT_TRUE(report.head_loaded);
  EXPECT_EQ(report.notice, "");
  for (const auto& [name, tensor] : file.tensors) EXPECT_TRUE(live.at(name).equal(tensor)) << name;
}

TEST(LoadWeightsTest, ConvertsHalfPrecisionAndKeepsTheNetworksOwnLayout) {
  auto network = make_network();
  auto file = make_file();
  for (auto& [name, tensor] : file.tensors) tensor = tensor.to(torch::kFloat16);
  load_weights(network, file);
  const auto weight = network->state().at("layer2.0.conv2.weight");
  EXPECT_EQ(weight.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(weight.is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(weight.equal(file.tensors.at("layer2.0.conv2.weight").to(torch::kFloat32)));
}

TEST(LoadWeightsTest, ValuesThatAreNoNumbersAreRefusedAndTheNetworkStays) {
  auto network = make_network();
  const auto before = network->state().at("conv1.weight").clone();
  for (const double value : {double(NAN), double(INFINITY), 1e300}) {
    auto file = make_file();
    file.tensors.at("fc.bias") = torch::full({5}, value, torch::kFloat64);
    const auto message = failure(network, file);
    EXPECT_TRUE(contains(message, "some/weights.pth: \"fc.bias\" has an element")) << message;
  }
  auto file = make_file();
  file.tensors.at("bn1.running_var").fill_(-1);
  EXPECT_TRUE(contains(failure(network, file), "\"bn1.running_var\" has the element -1"));
  EXPECT_TRUE(network->state().at("conv1.weight").equal(before));
}

TEST(LoadWeightsTest, CountersMayBeMissing) {
  auto network = make_network();
  auto file = make_file();
  std::erase_if(file.tensors,
                [](const auto& item) { return item.first.ends_with("num_batches_tracked"); });
  EXPECT_TRUE(load_weights(network, file).head_loaded);
}

TEST(LoadWeightsTest, AClassifierForOtherClassesIsLeftOutAndReported) {
  auto network = make_network(5);
  const auto before = network->head()->weight.clone();
  const auto report = load_weights(network, make_file(12));
  EXPECT_FALSE(report.head_loaded);
  EXPECT_EQ(report.notice,
            "some/weights.pth: its classifier is for 12 classes, not 5, and was left out");
  EXPECT_TRUE(network->head()->weight.equal(before));
  EXPECT_TRUE(network->state().at("bn1.bias").equal(make_file().tensors.at("bn1.bias")));
}

TEST(LoadWeightsTest, AFileWithoutClassifierGivesItsBackbone) {
  auto network = make_network();
  auto file = make_file();
  file.tensors.erase("fc.weight");
  file.tensors.erase("fc.bias");
  const auto report = load_weights(network, file);
  EXPECT_FALSE(report.head_loaded);
  EXPECT_TRUE(contains(report.notice, "has no classifier")) << report.notice;
}

TEST(LoadWeightsTest, AskedToMatchTheHeadMustBeThereAndFit) {
  auto network = make_network(5);
  EXPECT_TRUE(contains(failure(network, make_file(12), HeadPolicy::kMustMatch),
                       "of another shape: fc.bias [12] instead of [5], fc.weight [12, 64]"));
  auto file = make_file();
  file.tensors.erase("fc.weight");
  file.tensors.erase("fc.bias");
  EXPECT_TRUE(
      contains(failure(network, file, HeadPolicy::kMustMatch), "missing: fc.bias, fc.weight"));
}

TEST(LoadWeightsTest, NamesTheFileAndWhatDoesNotFit) {
  const struct {
    const char* part;
    std::function<void(WeightFile&)> damage;
  } cases[] = {
      {"missing: conv1.weight", [](auto& file) { file.tensors.erase("conv1.weight"); }},
      {"missing: fc.bias", [](auto& file) { file.tensors.erase("fc.bias"); }},
      {"unexpected: layer9.weight",
       [](auto& file) { file.tensors["layer9.weight"] = torch::zeros({1}); }},
      {"of another shape: bn1.bias [3] instead of [16]",
       [](auto& file) { file.tensors["bn1.bias"] = torch::zeros({3}); }},
      {"of another shape: fc.weight [5, 32] instead of [5, 64]",
       [](auto& file) {
         file.tensors["fc.weight"] = torch::zeros({5, 32});
       }},
      {"of another shape: fc.bias [6] instead of [5]",
       [](auto& file) { file.tensors["fc.bias"] = torch::zeros({6}); }},
  };
  for (const auto& [part, damage] : cases) {
    auto network = make_network();
    const auto before = network->state().at("layer1.0.conv1.weight").clone();
    auto file = make_file();
    damage(file);
    const auto message = failure(network, file);
    EXPECT_TRUE(message.starts_with("some/weights.pth: ")) << message;
    EXPECT_TRUE(contains(message, part)) << message << "\nlacks " << part;
    EXPECT_TRUE(network->state().at("layer1.0.conv1.weight").equal(before)) << "half loaded";
  }
}

TEST(LoadWeightsTest, ListsEightOfManyAndCountsTheRest) {
  auto network = make_network();
  auto file = make_file();
  for (int i = 0; i < 11; ++i) file.tensors["extra" + std::to_string(10 + i)] = torch::zeros({1});
  const auto message = failure(network, file);
  EXPECT_TRUE(contains(message, "extra17 and 3 more")) << message;
  EXPECT_FALSE(contains(message, "extra18")) << message;
}

TEST(StrideInOfTest, ReadsBothSpellings) {
  const auto of = [](std::map<std::string, std::string> metadata) {
    return stride_in_of({.tensors = {}, .metadata = std::move(metadata), .origin = "w"});
  };
  EXPECT_EQ(of({{"stride_in", "1x1"}}), StrideIn::k1x1);
  EXPECT_EQ(of({{"stride_in", "3x3"}}), StrideIn::k3x3);
  EXPECT_EQ(of({{"stride_in_1x1", "true"}}), StrideIn::k1x1);
  EXPECT_EQ(of({{"stride_in_1x1", "false"}}), StrideIn::k3x3);
  EXPECT_EQ(of({{"format", "pt"}}), std::nullopt);
  EXPECT_THROW(of({{"stride_in", "5x5"}}), InputError);
  EXPECT_THROW(of({{"stride_in_1x1", "1"}}), InputError);
}

TEST(NumClassesOfTest, CountsTheRowsOfTheClassifier) {
  EXPECT_EQ(num_classes_of(make_file(12)), 12);
  WeightFile file{.tensors = {{"fc.weight", torch::zeros({4})}}, .metadata = {}, .origin = "w"};
  EXPECT_THROW(num_classes_of(file), InputError);
  file.tensors.clear();
  EXPECT_THROW(num_classes_of(file), InputError);
}

}  // namespace
}  // namespace proca::models

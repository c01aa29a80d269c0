#include "proca/models/weight_file.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "models/weight_bytes.h"
#include "models/weights/safetensors.h"
#include "support/temporary_folder.h"

namespace proca::models {
namespace {

using test::Pickle;
using test::read_bytes;
using test::refusal;

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(PROCA_TEST_DATA) / name;
}

void expect_tensor(const WeightFile& file, const std::string& name, const torch::Tensor& expected) {
  ASSERT_TRUE(file.tensors.contains(name)) << name;
  const auto& actual = file.tensors.at(name);
  EXPECT_EQ(actual.scalar_type(), expected.scalar_type()) << name;
  EXPECT_TRUE(torch::equal(actual, expected)) << name << ": " << actual;
}

class GoldenStateDictTest : public testing::TestWithParam<const char*> {};

// The formulas are those of golden/make_pth.py.
TEST_P(GoldenStateDictTest, HasEveryTensor) {
  const auto file = read_weight_file(golden(GetParam()));
  const auto count = torch::arange(6).view({2, 3});
  for (const auto& [name, dtype] : {std::pair("float64", torch::kFloat64),
                                    {"float32", torch::kFloat32},
                                    {"float16", torch::kFloat16},
                                    {"bfloat16", torch::kBFloat16}}) {
    expect_tensor(file, name, ((count - 2) / 2.0).to(dtype));
  }
  for (const auto& [name, dtype] : {std::pair("int64", torch::kInt64),
                                    {"int32", torch::kInt32},
                                    {"int16", torch::kInt16},
                                    {"int8", torch::kInt8}}) {
    expect_tensor(file, name, (count - 2).to(dtype));
  }
  expect_tensor(file, "uint8", count.to(torch::kUInt8));
  expect_tensor(file, "bool", count % 2 == 1);
  expect_tensor(file, "scalar", torch::tensor(int64_t{7}));
  expect_tensor(file, "empty", torch::empty({0, 3}));
  expect_tensor(file, "parameter", torch::tensor({1.5F, -2.5F}));
  expect_tensor(file, "shared.first", torch::arange(4.0));
  expect_tensor(file, "shared.second", torch::arange(4.0, 10.0));
  expect_tensor(file, "transposed", torch::arange(6.0).view({2, 3}).t());
  expect_tensor(file, "strided", torch::tensor({{4.0F, 6.0F}, {8.0F, 10.0F}}));
  EXPECT_EQ(file.tensors.size(), 17u);
  EXPECT_TRUE(file.metadata.empty());
  EXPECT_EQ(file.origin, golden(GetParam()).string());
}

TEST_P(GoldenStateDictTest, SharedStoragesAreLoadedOnce) {
  const auto file = read_weight_file(golden(GetParam()));
  EXPECT_TRUE(file.tensors.at("shared.first")
                  .storage()
                  .is_alias_of(file.tensors.at("shared.second").storage()));
}

INSTANTIATE_TEST_SUITE_P(Formats, GoldenStateDictTest,
                         testing::Values("state_dict_zip.pth", "state_dict_stream.pth"));

class GoldenCheckpointTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenCheckpointTest, IsUnwrappedAndRidOfItsPrefix) {
  const auto file = read_weight_file(golden(GetParam()));
  EXPECT_EQ(file.tensors.size(), 2u);
  expect_tensor(file, "fc.weight", torch::arange(6.0).view({3, 2}));
  expect_tensor(file, "fc.bias", torch::tensor({0.5F, 1.0F, -1.0F}));
}

INSTANTIATE_TEST_SUITE_P(Formats, GoldenCheckpointTest,
                         testing::Values("checkpoint_zip.pth", "checkpoint_stream.pth",
                                         "protocol4_zip.pth", "protocol4_stream.pth"));

TEST(WeightFileTest, ReadsSafetensorsWithItsMetadata) {
  const auto file = read_bytes(test::safetensors_bytes({{"x", torch::ones({2})}}, {{"k", "v"}}));
  expect_tensor(file, "x", torch::ones({2}));
  EXPECT_EQ(file.metadata.at("k"), "v");
}

// 640 is 0x0280, which is how a pickle of protocol 2 begins.
TEST(WeightFileTest, ReadsSafetensorsThatBeginsLikeAPickle) {
  std::string header = R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  header.resize(0x280, ' ');
  EXPECT_EQ(read_bytes(test::safetensors_file(header, "a")).tensors.size(), 1u);
}

TEST(WeightFileTest, TakesThePrefixOffOnlyWhereEveryNameHasIt) {
  const auto one = torch::ones({1});
  const auto all =
      read_bytes(test::safetensors_bytes({{"module.a", one}, {"module.module.b", one}}));
  EXPECT_TRUE(all.tensors.contains("a") && all.tensors.contains("module.b"));
  const auto some = read_bytes(test::safetensors_bytes({{"module.a", one}, {"b", one}}));
  EXPECT_TRUE(some.tensors.contains("module.a") && some.tensors.contains("b"));
}

std::string dict_with(const std::string& key, const std::string& inner_key) {
  Pickle pickle;
  pickle.raw("}").text(key).raw("}").text(inner_key).tensor(2, 0, {2}, {1}).raw("ss");
  return test::stream_file(pickle.text("epoch").raw("K\1s").done(), {{1, 2}});
}

TEST(WeightFileTest, UnwrapsTheUsualNames) {
  for (const std::string key : {"state_dict", "model_state_dict", "model"}) {
    EXPECT_TRUE(read_bytes(dict_with(key, "x")).tensors.contains("x")) << key;
  }
}

TEST(WeightFileTest, RefusesOtherNestingAndValuesThatAreNoTensors) {
  EXPECT_NE(refusal(dict_with("weights", "x")).find("\"weights\" is a dict, not a tensor"),
            std::string::npos);
  const auto number = Pickle().raw("}").text("x").raw("K\1s").done();
  EXPECT_NE(refusal(test::stream_file(number, {})).find("\"x\" is an int"), std::string::npos);
  const auto key = Pickle().raw("}K\1").tensor(2, 0, {2}, {1}).raw("s").done();
  EXPECT_NE(refusal(test::stream_file(key, {{1, 2}})).find("named by an int"), std::string::npos);
  const auto list = Pickle().raw("]").tensor(2, 0, {2}, {1}).raw("a").done();
  EXPECT_NE(refusal(test::stream_file(list, {{1, 2}})).find("holds a list"), std::string::npos);
}

TEST(WeightFileTest, RefusesAFileWithoutTensors) {
  EXPECT_NE(refusal(test::safetensors_bytes({}, {{"k", "v"}})).find("no tensors"),
            std::string::npos);
  EXPECT_NE(refusal(test::stream_file(Pickle().raw("}").done(), {})).find("no tensors"),
            std::string::npos);
}

TEST(WeightFileTest, RefusesOtherFilesByName) {
  EXPECT_NE(refusal("").find("is neither"), std::string::npos);
  EXPECT_NE(refusal("#!/bin/sh\nexit 0\n").find("is neither"), std::string::npos);
  EXPECT_NE(refusal(std::string(300, '\0')).find("is neither"), std::string::npos);
  EXPECT_NE(refusal("\x89PNG\r\n\x1a\n data").find("is neither"), std::string::npos);
  EXPECT_NE(refusal(Pickle().raw("}").done()).find("not one of torch.save"), std::string::npos);
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_NE(refusal(tar).find("tar format"), std::string::npos);
  EXPECT_THROW(read_weight_file(golden("no such file")), InputError);
  EXPECT_THROW(read_weight_file(golden("")), InputError);
}

}  // namespace
}  // namespace proca::models

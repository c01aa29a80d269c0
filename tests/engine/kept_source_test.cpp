#include "engine/source/kept_source.h"

#include <gtest/gtest.h>

#include "models/weights/json_tensor.h"
#include "support/message_of.h"

namespace proca::engine {
namespace {

using models::NamedTensors;

// Three of eight images, of the first and the last of three classes.
NamedTensors kept_tensors() {
  KeptSource kept{.pixels = torch::arange(3 * 2 * 2 * 3, torch::kUInt8).view({3, 2, 2, 3}),
                  .labels = torch::tensor({0, 0, 2}, torch::kInt64),
                  .origins = {"a/1.png", "a/2.png", "c/\xff.png"},
                  .counts = torch::tensor({6, 0, 2}, torch::kInt64),
                  .centres = torch::rand({3, 4})};
  return kept.save();
}

NamedTensors with(const std::string& name, const torch::Tensor& tensor) {
  auto tensors = kept_tensors();
  tensors[name] = tensor;
  return tensors;
}

TEST(KeptSourceTest, IsReadAsItWasWritten) {
  const auto tensors = kept_tensors();
  const auto kept = KeptSource::load(tensors, 3, "kept");
  EXPECT_EQ(kept.size(), 3);
  EXPECT_EQ(kept.per_class(), 2);
  EXPECT_EQ(kept.bytes(), 36);
  EXPECT_EQ(kept.num_source_images(), 8);
  EXPECT_EQ(kept.origins, (std::vector<std::string>{"a/1.png", "a/2.png", "c/\xef\xbf\xbd.png"}));
  EXPECT_TRUE(torch::equal(kept.prior(), torch::tensor({0.75f, 0.0f, 0.25f})));
  EXPECT_TRUE(torch::equal(kept.centres, tensors.at("centres")));

  const auto images = kept.images({"a", "b", "c"}, "kept");
  EXPECT_EQ(images->listing().count_per_class(), (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(images->listing().samples[1].path, "a/2.png");
  const auto image = images->read(1);
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.pixels.front(), 12);
  EXPECT_EQ(image.pixels.back(), 23);
}

TEST(KeptSourceTest, WhatFitsIsTaken) {
  const auto numbers = [](std::vector<int64_t> values) { return torch::tensor(values); };
  const std::vector<NamedTensors> good = {with("labels", numbers({2, 2, 0})),
                                          with("counts", numbers({2, 0, 1})),
                                          with("counts", numbers({2, 1'000'000'000, 1})),
                                          with("centres", torch::zeros({3, 1})),
                                          with("pixels", torch::zeros({3, 1, 1, 3}, torch::kUInt8)),
                                          with("origins", models::json_tensor({"", "", ""})),
                                          with("more", numbers({1}))};
  for (const auto& tensors : good) {
    auto counts = tensors;
    if (torch::equal(tensors.at("labels"), numbers({2, 2, 0}))) {
      counts["counts"] = numbers({1, 0, 2});
    }
    EXPECT_EQ(KeptSource::load(counts, 3, "kept").size(), 3);
  }
}

TEST(KeptSourceTest, WhatDoesNotFitIsNamed) {
  const auto numbers = [](std::vector<int64_t> values) { return torch::tensor(values); };
  auto missing = kept_tensors();
  missing.erase("counts");
  const std::vector<std::pair<NamedTensors, std::string>> bad = {
      {missing, "\"counts\" is missing"},
      {with("labels", numbers({0, 0, 3})), "\"labels\" holds 3"},
      {with("counts", numbers({1, 0, 2})), "\"counts\" has fewer images"},
      {with("centres", torch::full({3, 4}, NAN)), "\"centres\" holds a value"},
      {with("pixels", torch::zeros({2, 2, 2, 3}, torch::kUInt8)), "\"pixels\" is"},
      {with("pixels", torch::zeros({3, 0, 2, 3}, torch::kUInt8)), "\"pixels\" is empty"},
      {with("origins", models::json_tensor({"one", "two"})), "\"origins\" is not"},
      {with("origins", models::json_tensor({1, 2, 3})), "\"origins\" is not"}};
  for (const auto& [tensors, expected] : bad) {
    const auto message =
        test::message_of([&, &tensors = tensors] { KeptSource::load(tensors, 3, "kept"); });
    EXPECT_NE(message.find("kept: is damaged: " + expected), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace proca::engine

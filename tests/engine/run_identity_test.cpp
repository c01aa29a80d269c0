#include "engine/run_identity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/step_identity.h"
#include "proca/core/error.h"
#include "support/message_of.h"
#include "support/shapes_data.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

RunIdentity identity_with(const std::string& name, const std::string& value) {
  AdaptOptions options;
  OptionSet set;
  options.bind(set);
  set.assign(name, {value});
  RunIdentity identity;
  identity.add(set);
  return identity;
}

TEST(RunIdentityTest, WhatDecidesNothingIsNoPartOfIt) {
  const auto usual = identity_with("seed", "0");
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"device", "cpu"},
                                                        {"threads", "3"},
                                                        {"graph", "off"},
                                                        {"rank-timeout", "5"},
                                                        {"cache-ram", "1M"},
                                                        {"cache-gpu", "0"},
                                                        {"frozen-cache", "x"},
                                                        {"tensorboard", "x"},
                                                        {"checkpoint-every", "1"}}) {
    EXPECT_EQ(identity_with(name, value), usual) << name;
    EXPECT_EQ(usual.find("", name), nullptr) << name;
  }
  EXPECT_NE(identity_with("seed", "1"), usual);
  EXPECT_NE(identity_with("winograd", "off"), usual);  // it rounds differently
  EXPECT_EQ(usual.find("", "winograd"), nullptr);      // as in records of earlier versions
  EXPECT_NE(identity_with("precision", "bf16"), usual);
}

TEST(RunIdentityTest, ItsTextGivesItBack) {
  RunIdentity identity;
  identity.fields = {{"", "lr", "0.1"}, {"", "name", "\"a = b: [c]\""}, {"method", "alpha", "1"}};
  identity.add_note("step 1", "classes 0, 3");
  identity.add_note("images", "2 in 1 classes");
  EXPECT_EQ(identity.text(),
            "lr = 0.1\nname = \"a = b: [c]\"\n\n[method]\nalpha = 1\n"
            "# step 1: classes 0, 3\n# images: 2 in 1 classes\n");
  EXPECT_EQ(RunIdentity::parse(identity.text()), identity);
  EXPECT_EQ(RunIdentity::parse(identity.text() + "# crc32: 01234567\n"), identity);
}

TEST(RunIdentityTest, ADifferenceIsNamed) {
  RunIdentity theirs, mine;
  const auto message = [&] {
    return test::message_of<InputError>(
        [&] { refuse_other_identity("state", "holds a run", theirs, mine, "go away"); });
  };
  theirs.fields = {{"", "lr", "0.1"}, {"", "seed", "0"}};
  mine.fields = {{"", "lr", "0.1"}, {"", "seed", "1"}};
  EXPECT_EQ(message(),
            "state: holds a run with other options: seed = 0 there, seed = 1 here; go away");
  mine.fields.pop_back();
  EXPECT_EQ(message(),
            "state: holds a run with other options: seed = 0 there, no seed here; go away");
  theirs.fields = mine.fields;
  theirs.add_note("images", "3");
  mine.add_note("images", "4");
  EXPECT_EQ(message(), "state: holds a run with other images: 3 there, 4 here; go away");
}

// The images of a folder, at the size they have.
data::ImageStore store_of(const std::filesystem::path& folder) {
  return data::LoadOptions().make_store(
      data::open_images(folder, {.labels = data::Labels::kIgnored}),
      {data::ResizeOptions::Mode::kExact, 16}, 2);
}

class StepIdentityTest : public ::testing::Test {
 protected:
  RunIdentity identity(const std::string& precision = "tf32", torch::Device device = torch::kCPU) {
    return identity("precision", device, precision);
  }
  RunIdentity identity(const char* option, torch::Device device, const std::string& value) {
    AdaptOptions options;
    OptionSet set;
    options.bind(set);
    set.assign(option, {value});
    const auto method = options.method.resolve();
    return identify_step({options, method, options.resolve(method.spec->recipe), true, device},
                         store_of(folder_.path()));
  }

  test::TemporaryFolder folder_;
};

TEST_F(StepIdentityTest, PrecisionDecidesOnAGpuAlone) {
  test::write_bars(folder_.path(), 2);
  const auto tf32 = identity("tf32", torch::kCUDA), bf16 = identity("bf16", torch::kCUDA);
  EXPECT_NE(tf32, bf16);
  EXPECT_NE(test::message_of([&] {
              refuse_other_identity("state", "step 1 is under way", tf32, bf16, "go on");
            }).find("precision = \"tf32\" there, precision = \"bf16\" here"),
            std::string::npos);
  EXPECT_EQ(identity("fp32"), identity("bf16"));
}

TEST_F(StepIdentityTest, TheAlgorithmOfConvolutionsDecidesOnACpuAlone) {
  test::write_bars(folder_.path(), 2);
  EXPECT_NE(identity("winograd", torch::kCPU, "off"), identity("winograd", torch::kCPU, "on"));
  EXPECT_EQ(identity("winograd", torch::kCUDA, "off"), identity("winograd", torch::kCUDA, "on"));
}

TEST_F(StepIdentityTest, EveryImageOfALargeSetDecides) {
  for (int i = 0; i < 600; ++i) {
    test::write_png(folder_ / fmt::format("{:03d}.png", i), test::bar_image(0, i));
  }
  const auto before = identity();
  EXPECT_EQ(identity(), before);
  test::write_png(folder_ / "101.png", test::bar_image(1, 101));
  EXPECT_NE(identity(), before);
}

TEST_F(StepIdentityTest, OfOldStatesOnlyWhatTheyKnewDecides) {
  test::write_bars(folder_.path(), 2);
  const auto mine = identity();
  const auto store = store_of(folder_.path());
  auto old = mine;
  std::erase_if(old.fields, [](const auto& field) { return field.name == "precision"; });
  old.fields.back().value = "4, content 00000000";
  EXPECT_NE(upgraded(old, mine, store), mine);  // other pixels
  EXPECT_EQ(upgraded(mine, mine, store), mine);
  old.fields.front().value = "\"dann\"";
  EXPECT_EQ(*upgraded(old, mine, store).find("", "precision"), *mine.find("", "precision"));
}

}  // namespace
}  // namespace proca::engine

#include "state/manifest_json.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace proca::state {
namespace {

using nlohmann::json;

// A state of two classes after its first step.
json ready() {
  Manifest manifest;
  manifest.phase = Phase::kReady;
  manifest.step = 1;
  manifest.model.class_names = {"a", "b"};
  manifest.source = "/data/photos";
  manifest.source_from_state = "../photos";
  manifest.adapted_classes = {0, 1};
  manifest.adapting = {2, 3, "digest"};
  json written = to_json(manifest);
  written["format_version"] = 2;
  return written;
}

// The message for a manifest in which `place` has another value.
std::string refusal(const char* place, const json& value) {
  auto changed = ready();
  changed.at(json::json_pointer(place)) = value;
  return test::message_of<std::invalid_argument>([&] { manifest_from_json(changed); });
}

TEST(ManifestJsonTest, IsReadAsItWasWritten) {
  EXPECT_EQ(json(to_json(manifest_from_json(ready()))).dump(), [] {
    auto written = ready();
    written.erase("format_version");
    return written.dump();
  }());
}

TEST(ManifestJsonTest, CountsAreWholeAndNotNegative) {
  for (const auto* key : {"epoch", "step", "events_bytes"}) {
    const auto place = std::string("/") + key;
    EXPECT_EQ(refusal(place.c_str(), 1e300), std::string(key) + " is not a whole number");
    EXPECT_EQ(refusal(place.c_str(), "1"), std::string(key) + " is not a whole number");
    EXPECT_NE(refusal(place.c_str(), -1).find(" is not between 0 and "), std::string::npos);
    EXPECT_NE(refusal(place.c_str(), uint64_t{1} << 63).find(" is not between 0 and "),
              std::string::npos);
  }
  EXPECT_EQ(refusal("/adapting/iteration", 0.5), "iteration is not a whole number");
}

TEST(ManifestJsonTest, LimitsHold) {
  auto largest = ready();
  largest["step"] = kMaxSteps;
  largest["model"]["preprocessing"]["image_size"] = kMaxImageSize;
  EXPECT_EQ(manifest_from_json(largest).step, kMaxSteps);
  EXPECT_EQ(refusal("/step", kMaxSteps + 1), "step is not between 0 and 100000");
  const char* size = "/model/preprocessing/image_size";
  EXPECT_EQ(refusal(size, kMaxImageSize + 1), "image_size is not between 0 and 65535");
  EXPECT_EQ(refusal(size, 0), "image_size is 0");
  EXPECT_EQ(refusal("/model/preprocessing/std/1", 0), "std is 0, not above 0");
  EXPECT_EQ(refusal("/model/class_names", std::vector<std::string>(kMaxClasses + 1)),
            "there are more than 1000001 classes");
}

TEST(ManifestJsonTest, AdaptedClassesAreTheModelsInOrder) {
  EXPECT_EQ(refusal("/adapted_classes", {1, 0}), "adapted class 0 is out of order or out of range");
  EXPECT_EQ(refusal("/adapted_classes", {0, 2}), "adapted class 2 is out of order or out of range");
  EXPECT_EQ(refusal("/adapted_classes", {-1, 1}),
            "adapted class -1 is out of order or out of range");
  EXPECT_EQ(refusal("/adapted_classes", {1e300, 1}),
            "adapted class 1e+300 is out of order or out of range");
  EXPECT_EQ(refusal("/adapted_classes", 1), "adapted_classes is not a list");
}

TEST(ManifestJsonTest, FilesLieInTheStatesFolder) {
  for (const auto* name : {"model.safetensors", "steps/01/metrics.json", "..a"}) {
    EXPECT_NO_THROW(check_file_name(name)) << name;
  }
  for (const auto* name : {"", "/etc/passwd", "..", "../other/model", "steps/../../x", "steps/"}) {
    EXPECT_EQ(test::message_of<std::invalid_argument>([&] { check_file_name(name); }),
              std::string("the file \"") + name + "\" does not lie in the state's folder");
  }
}

}  // namespace
}  // namespace proca::state

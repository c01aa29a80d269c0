// State directories that programs of earlier versions wrote (golden/make_states.py): they can be
// read for ever, say what they said, and go on in the current format.

#include <gtest/gtest.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "engine/source/training_record.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/data/image_source.h"
#include "proca/data/load_options.h"
#include "proca/engine/adapter.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"
#include "state/state_writer.h"
#include "support/shapes_data.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = PROCA_TEST_DATA;

int64_t version_of(const fs::path& state) {
  return nlohmann::json::parse(read_text_file(state / "state.json")).at("format_version");
}

class OlderFormatsTest : public ::testing::TestWithParam<int64_t> {
 protected:
  static fs::path golden() { return kGolden / ("state_v" + std::to_string(GetParam())); }

  // The probabilities of every class for each image, by what the program of its time printed.
  static void expect_same_predictions(const fs::path& state) {
    const auto model = load_model(state::StateDirectory(state));
    const auto& preprocessing = model.description.preprocessing;
    const std::shared_ptr images =
        data::open_images(kGolden / "images", {.labels = data::Labels::kIgnored});
    const auto store = data::LoadOptions().make_store(images, preprocessing.resolved_resize(), 1);
    const auto said = nlohmann::json::parse(read_text_file(golden().string() + ".json"));
    const auto answers =
        predict_all(model.network, store, preprocessing, {.device = torch::kCPU, .batch_size = 4});
    ASSERT_EQ(answers.probabilities.size(0), static_cast<int64_t>(said.size()));
    for (size_t i = 0; i < said.size(); ++i) {
      for (const auto& entry : said[i].at("top")) {
        const auto label = entry.at("label").get<int64_t>();
        EXPECT_EQ(entry.at("class"), model.description.class_names[static_cast<size_t>(label)]);
        EXPECT_NEAR(answers.probabilities[static_cast<int64_t>(i)][label].item<double>(),
                    entry.at("confidence").get<double>(), 1e-6);
      }
    }
  }
};

TEST_P(OlderFormatsTest, SayTheSameAsEver) {
  ASSERT_EQ(version_of(golden()), GetParam());
  expect_same_predictions(golden());
}

TEST_P(OlderFormatsTest, WereTrainedOnImagesAsTheyAreStored) {
  const state::StateDirectory state(golden());
  EXPECT_EQ(state.manifest().model.preprocessing.resize.orientation, data::Orientation::kStored);
  EXPECT_EQ(training_options_of(state).orientation, data::Orientation::kStored);
}

TEST_P(OlderFormatsTest, KeepWhatTheyKnow) {
  const state::StateDirectory state(golden());
  const auto& manifest = state.manifest();
  EXPECT_EQ(manifest.phase, state::Phase::kReady);
  EXPECT_EQ(manifest.epoch, 2);
  EXPECT_EQ(manifest.source, "source");
  const bool is_adapted = GetParam() > 1;
  EXPECT_EQ(manifest.step, is_adapted ? 1 : 0);
  EXPECT_EQ(manifest.method, is_adapted ? "proca" : "");
  EXPECT_EQ(manifest.adapted_classes.empty(), !is_adapted);
  EXPECT_EQ(state.has("memory.safetensors"), is_adapted);
  EXPECT_EQ(state.has("steps/01/detection.json"), is_adapted);
}

TEST_P(OlderFormatsTest, AreOfTheCurrentVersionOnceTheyAreWritten) {
  const test::TemporaryFolder folder;
  fs::copy(golden(), folder / "state", fs::copy_options::recursive);
  {
    state::StateWriter writer(folder / "state");
    const auto manifest = writer.state().manifest();
    writer.commit(manifest);
  }
  EXPECT_EQ(version_of(folder / "state"), 3);
  expect_same_predictions(folder / "state");
}

// They know a sample of the pixels alone, and no precision.
TEST_P(OlderFormatsTest, KnowTheStepThatTheyHaveDone) {
  if (GetParam() == 1) GTEST_SKIP() << "it has no step";
  const test::TemporaryFolder folder;
  fs::copy(golden(), folder / "state", fs::copy_options::recursive);
  fs::copy(kGolden / "images", folder / "images");
  const auto adapt = [&](const std::string& alpha) {
    AdaptOptions options;
    OptionSet set;
    options.bind(set);
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"epochs", "1"},
                                                          {"batch-size", "4"},
                                                          {"prototypes", "2"},
                                                          {"capture-first", "0"},
                                                          {"alpha", alpha},
                                                          {"threads", "1"},
                                                          {"device", "cpu"}}) {
      set.assign(name, {value});
    }
    return Adapter(options, folder / "state")
        .adapt(data::open_images(folder / "images", {.labels = data::Labels::kIgnored}))
        .already_done;
  };
  EXPECT_TRUE(adapt("0.15"));
  const auto images = fs::directory_iterator(folder / "images");
  test::write_png(images->path(), test::bar_image(0, 7));
  EXPECT_THROW(adapt("0.15"), InputError);  // it wants the source images, which are not there
}

INSTANTIATE_TEST_SUITE_P(Versions, OlderFormatsTest, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace proca::engine

// Adaptation as a user runs it: days apart, killed now and then, or a whole protocol
// at once.

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/file.h"
#include "support/file_calls.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::ProgramResult;
using test::run_proca;
using test::run_well;

const std::vector<std::string> kClasses = {"upright", "level", "frame"};

// Bars as another camera sees them: dimmer and inverted.
data::Image target_image(int64_t label, int64_t index) {
  auto image = test::bar_image(label, index);
  for (auto& value : image.pixels) value = static_cast<uint8_t>(230 - value / 2);
  return image;
}

class AdaptationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "source", 16);
    for (int64_t label = 0; label < 3; ++label) {
      for (int64_t i = 0; i < 10; ++i) {
        const auto name = std::to_string(i) + ".png";
        const auto image = target_image(label, 100 + i);
        test::write_png(*shared_ / "target" / kClasses[static_cast<size_t>(label)] / name, image);
        test::write_png(*shared_ / ("day" + std::to_string(label)) / name, image);
      }
    }
    write_file(*shared_ / "own.toml",
               "summary = \"bars\"\nclasses-per-step = 1\nsteps = 3\n"
               "class-order = [\"frame\", \"level\", \"upright\"]\n"
               "[pretrain]\nbackbone = \"resnet-small\"\nimage-size = 16\nepochs = 3\n"
               "[adapt]\nepochs = 4\nbatch-size = 8\nlr = 0.01\n[method]\nprototypes = 2\n");
    run_well({"pretrain", "--source", path("source"), "--out", path("trained"), "--backbone",
              "resnet-small", "--image-size", "16", "--epochs", "3", "--batch-size", "8"});
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }

  static std::string fresh_state(const std::string& name) {
    fs::copy(path("trained"), path(name), fs::copy_options::recursive);
    return path(name);
  }
  static std::vector<std::string> adapt(const std::string& state, const std::string& target,
                                        const std::string& epochs = "4",
                                        const std::string& checkpoint_every = "0") {
    return {
        "adapt",      "--method",           "proca",         "--state",      state, "--target",
        path(target), "--epochs",           epochs,          "--batch-size", "8",   "--prototypes",
        "2",          "--checkpoint-every", checkpoint_every};
  }
  static std::vector<std::string> run(const std::string& out,
                                      const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"run",    "--preset", path("own.toml"), "--data-root",
                                      path(""), "--source", "source",         "--target",
                                      "target", "--out",    path(out),        "--checkpoint-every",
                                      "0"};
    if (std::find(more.begin(), more.end(), "--method") == more.end()) {
      words.insert(words.end(), {"--method", "proca"});
    }
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // Killed where its second checkpoint in the middle of a step would become valid.
  static void kill_at_checkpoint(const std::vector<std::string>& words, const std::string& state) {
    test::run_and_kill(words,
                       {.below = state, .call = "rename", .file = "/state.json", .number = 3});
  }

  static test::TemporaryFolder* shared_;
};
test::TemporaryFolder* AdaptationTest::shared_ = nullptr;

TEST_F(AdaptationTest, AMethodThatLabelsNoImageDoesNotCountClasses) {
  const auto state = fresh_state("dann");
  const auto step = run_well({"adapt", "--state", state, "--target", path("day0"), "--method",
                              "dann", "--iterations", "2", "--batch-size", "8"});
  EXPECT_EQ(step.out.find("adapted so far"), std::string::npos) << step.out;
  const auto shown = run_well({"inspect", state}).out;
  EXPECT_NE(shown.find("classes     3, adapted to those in the images (dann labels none)"),
            std::string::npos)
      << shown;
  // Nor does it say of a prediction whether its class was adapted.
  const auto predictions = run_well({"predict", path("day0"), "--state", state}).out;
  EXPECT_EQ(predictions.substr(0, predictions.find('\n')), "path,label,class,confidence");
}

TEST_F(AdaptationTest, SeveralMethodsShareOneSourceModel) {
  const auto both = run_well(run("several", {"--method", "source-only,proca", "--eta", "0.5"}));
  EXPECT_NE(both.out.find("source-only"), std::string::npos) << both.out;
  EXPECT_TRUE(fs::exists(path("several/source-only/source-0/state.json")));
  EXPECT_FALSE(fs::exists(path("several/proca/source-0")));
  EXPECT_TRUE(fs::exists(path("several/report.html")));
  const auto alone = run_well(run("alone", {"--eta", "0.5", "--no-report"}));
  EXPECT_EQ(read_text_file(path("several/proca/results.txt")),
            read_text_file(path("alone/results.txt")));
  // Names the task in every line of progress.
  EXPECT_NE(both.err.find("proca, source -> target, seed 0: step 1 of 3: 10 images"),
            std::string::npos)
      << both.err;
  const auto refused = run_proca(run("none", {"--method", "proca,unknown"}));
  EXPECT_EQ(refused.exit_code, 2);
  const auto twice = run_proca(run("none", {"--method", "proca,dann,proca"}));
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("--method: proca is named twice"), std::string::npos) << twice.err;
  EXPECT_FALSE(fs::exists(path("none")));
}

TEST_F(AdaptationTest, AnOptionWithoutEffectIsSaid) {
  const auto state = fresh_state("idle");
  auto words = adapt(state, "day0", "1");
  words.insert(words.end(), {"--alpha", "0.3", "--detection", "label-shift"});
  const auto step = run_well(words);
  EXPECT_NE(step.err.find("--alpha has no effect: it needs --detection scd"), std::string::npos)
      << step.err;
}

TEST_F(AdaptationTest, StepByStepWithEarlierImagesGone) {
  const auto state = fresh_state("stream");
  fs::rename(path("day0"), path("today"));
  const auto first = run_well(adapt(state, "today"));
  EXPECT_NE(first.out.find("step 1: adapted to 10 images"), std::string::npos) << first.out;
  fs::rename(path("today"), path("day0"));  // Gone, as far as the state knows.
  const auto second = run_well(adapt(state, "day1"));
  EXPECT_NE(second.out.find("step 2"), std::string::npos) << second.out;
  const auto again = run_well(adapt(state, "day1"));
  EXPECT_NE(again.out.find("already"), std::string::npos) << again.out;

  const auto inspected =
      nlohmann::json::parse(run_well({"inspect", "--state", state, "--json"}).out);
  EXPECT_EQ(inspected.at("steps"), 2);
  EXPECT_EQ(inspected.at("method"), "proca");
  const auto adapted = inspected.at("adapted_classes").get<std::vector<int64_t>>();
  EXPECT_FALSE(adapted.empty());
  ASSERT_FALSE(inspected.at("memory").at("classes").empty());
  EXPECT_EQ(inspected.at("memory").at("classes")[0].at("prototypes"), 2);

  const auto predictions = nlohmann::json::parse(
      run_well({"predict", path("target"), "--state", state, "--format", "json"}).out);
  for (const auto& prediction : predictions) {
    const bool expected = std::count(adapted.begin(), adapted.end(), prediction.at("label")) > 0;
    EXPECT_EQ(prediction.at("adapted"), expected);
  }
  const auto csv = run_well({"predict", path("day0"), "--state", state}).out;
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "path,label,class,confidence,adapted");

  const auto detection = nlohmann::json::parse(read_text_file(state + "/steps/01/detection.json"));
  EXPECT_EQ(detection.at("rule"), "scd");
  ASSERT_EQ(detection.at("classes").size(), 3u);
  for (const auto& entry : detection.at("classes")) {  // The decision can be made by hand.
    EXPECT_EQ(entry.at("detected").get<bool>(),
              entry.at("score").get<double>() >= detection.at("threshold").get<double>());
  }
  const auto labels = read_text_file(state + "/steps/02/pseudo_labels.csv");
  EXPECT_EQ(std::count(labels.begin(), labels.end(), '\n'), 11);
  EXPECT_NE(labels.find("day1/3.png"), std::string::npos);
}

TEST_F(AdaptationTest, AKilledStepGoesOnAndEndsBitEqual) {
  const auto reference = fresh_state("whole");
  run_well(adapt(reference, "day0", "8"));
  const auto state = fresh_state("killed");
  for (int life = 0; life < 4; ++life) kill_at_checkpoint(adapt(state, "day0", "8"), state);
  const auto last = run_well(adapt(state, "day0", "8"));
  EXPECT_NE(last.err.find("goes on after"), std::string::npos) << last.err;
  for (const auto* file : {"model.safetensors", "memory.safetensors", "steps/01/detection.json",
                           "steps/01/prototypes.json"}) {
    EXPECT_EQ(read_text_file(fs::path(state) / file), read_text_file(fs::path(reference) / file))
        << file;
  }
}

// No checkpoint is due for hours: what is saved, Ctrl-C has saved.
TEST_F(AdaptationTest, CtrlCSavesAndStops) {
  const auto reference = fresh_state("calm");
  run_well(adapt(reference, "day0", "8", "9999"));
  const auto state = fresh_state("interrupted");
  const auto stopped = test::run_and_interrupt(
      adapt(state, "day0", "8", "9999"),
      {.below = state, .call = "pwrite", .file = "/events.jsonl", .number = 3});
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("stopped and saved"), std::string::npos) << stopped.err;
  EXPECT_TRUE(fs::exists(state + "/training.safetensors"));
  const auto last = run_well(adapt(state, "day0", "8", "9999"));
  EXPECT_NE(last.err.find("goes on after"), std::string::npos) << last.err;
  EXPECT_EQ(read_text_file(fs::path(state) / "model.safetensors"),
            read_text_file(fs::path(reference) / "model.safetensors"));
}

// Trained here, adapted there: without the source, and with it at another place.
TEST_F(AdaptationTest, AMovedStateAdaptsWithKeptImagesOrARelocatedSource) {
  fs::copy(path("source"), path("lost"), fs::copy_options::recursive);
  run_well({"pretrain", "--source", path("lost"), "--out", path("moving"), "--backbone",
            "resnet-small", "--image-size", "16", "--epochs", "1", "--batch-size", "8",
            "--keep-source", "2"});
  fs::create_directories(path("elsewhere"));
  fs::rename(path("lost"), path("elsewhere/drawings"));
  fs::rename(path("moving"), path("elsewhere/state"));
  const auto state = path("elsewhere/state");

  const auto inspected =
      nlohmann::json::parse(run_well({"inspect", "--state", state, "--json"}).out);
  const auto& kept = inspected.at("kept_source");
  EXPECT_EQ(kept.at("images"), 6);
  EXPECT_EQ(kept.at("per_class"), 2);
  EXPECT_EQ(kept.at("bytes"), 6 * 18 * 18 * 3);
  EXPECT_EQ(kept.at("of"), 48);
  EXPECT_NE(run_well({"inspect", "--state", state}).out.find("kept source 6 of 48 images"),
            std::string::npos);

  const auto without = run_well(adapt(state, "day0"));
  EXPECT_NE(without.err.find("source images: 6 that the state keeps, 2 per class"),
            std::string::npos)
      << without.err;
  auto words = adapt(state, "day1");
  words.insert(words.end(), {"--source", path("elsewhere/drawings")});
  const auto with = run_well(words);
  EXPECT_NE(with.err.find("source images: 48 of "), std::string::npos) << with.err;
  run_well(adapt(state, "day2"));  // It knows the place now.

  words = adapt(state, "day0");
  words.insert(words.end(), {"--source", path("target")});
  const auto refused = run_proca(words);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("are not the images that the source model"), std::string::npos)
      << refused.err;
}

TEST_F(AdaptationTest, AProtocolWithFewSourceImagesSharesItsSourceModel) {
  const std::vector<std::string> few = {"--source-state", path("trained"), "--keep-source", "2"};
  run_well(run("few", few));
  EXPECT_NE(read_text_file(path("few/run.toml")).find("keep-source = 2\n"), std::string::npos);
  EXPECT_NE(read_text_file(path("few/seed-0/adapt.toml")).find("# source images: kept"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(path("trained/kept_source.safetensors")));
  // And the source images are not needed at all.
  fs::create_directories(path("rest"));
  fs::copy(path("target"), path("rest/target"), fs::copy_options::recursive);
  fs::copy(path("few/seed-0"), path("rest/state"), fs::copy_options::recursive);
  auto words = run("rest/out", {"--source-state", path("rest/state")});
  std::replace(words.begin(), words.end(), path(""), path("rest"));
  fs::rename(path("source"), path("hidden"));
  const auto without = run_proca(words);
  fs::rename(path("hidden"), path("source"));
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_NE(without.err.find("source images: 6 that the state keeps"), std::string::npos)
      << without.err;

  const auto other = run_proca(run("few", {"--source-state", path("trained")}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("keep-source"), std::string::npos) << other.err;
}

TEST_F(AdaptationTest, AWholeProtocolGivesTablesForEverySeed) {
  const auto result = run_well(run("protocol", {"--seeds", "0,1"}));
  EXPECT_NE(result.out.find("source -> target, proca"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("±"), std::string::npos) << result.out;
  const auto json = nlohmann::json::parse(read_text_file(path("protocol/results.json")));
  ASSERT_EQ(json.at("seeds").size(), 2u);
  const auto& metrics = json.at("seeds")[0].at("metrics");
  EXPECT_EQ(metrics.at("steps").size(), 3u);
  EXPECT_TRUE(metrics.at("final_accuracy_percent").is_number());

  // A step's metrics are counts, from which accuracy follows: frame, level, upright
  // arrive in this order, ten images each.
  const auto record =
      nlohmann::json::parse(read_text_file(path("protocol/seed-0/steps/03/metrics.json")));
  int64_t images = 0, correct = 0;
  for (const auto& entry : record.at("classes")) {
    images += entry.at("images").get<int64_t>();
    correct += entry.at("correct").get<int64_t>();
  }
  EXPECT_EQ(images, 30);
  EXPECT_NEAR(metrics.at("final_accuracy_percent").get<double>(),
              100.0 * static_cast<double>(correct) / 30.0, 1e-9);

  const auto once_more = run_well(run("protocol", {"--seeds", "0,1"}));
  EXPECT_EQ(once_more.out, result.out);
  EXPECT_EQ(once_more.err.find("epoch 1/"), std::string::npos) << "a step was done twice";
  const auto other = run_proca(run("protocol", {"--seeds", "0,1", "--alpha", "0.3"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("alpha = 0.15 there, alpha = 0.3 here"), std::string::npos) << other.err;
}

TEST_F(AdaptationTest, ASourceModelOfOtherImagesIsRefused) {
  const auto result = run_proca({"run", "--preset", path("own.toml"), "--data-root", path(""),
                                 "--source", "target", "--target", "source", "--out",
                                 path("mixed-up"), "--source-state", path("trained")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("was not trained on the images of target"), std::string::npos)
      << result.err;
  EXPECT_FALSE(fs::exists(path("mixed-up")));
}

TEST_F(AdaptationTest, AClassWithoutTargetImagesIsLeftOut) {
  fs::copy(path("target"), path("gap"), fs::copy_options::recursive);
  fs::remove_all(path("gap/level"));
  write_file(*shared_ / "two.toml",
             "classes-per-step = 2\nsteps = 1\nclass-order = [\"upright\", \"level\"]\n"
             "[pretrain]\nbackbone = \"resnet-small\"\nimage-size = 16\n[adapt]\nepochs = 1\n");
  const std::vector<std::string> words = {
      "run",           "--preset",       path("two.toml"), "--data-root", path(""),
      "--source",      "source",         "--target",       "gap",         "--out",
      path("gap-run"), "--source-state", path("trained")};
  const auto result = run_well(words);
  EXPECT_NE(result.err.find("has no image of class level"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("Final accuracy"), std::string::npos) << result.out;
  // Its record, which has that class between others, can be read again.
  EXPECT_EQ(run_well(words).out, result.out);
}

TEST_F(AdaptationTest, SourceOnlyHasTheSameAccuracyOnAGroupAtEveryStep) {
  run_well(run("floor", {"--method", "source-only", "--source-state", path("trained")}));
  const auto json = nlohmann::json::parse(read_text_file(path("floor/results.json")));
  const auto& steps = json.at("seeds")[0].at("metrics").at("steps");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].at("s1_accuracy_percent"), steps[2].at("s1_accuracy_percent"));
}

TEST_F(AdaptationTest, AKilledRunGoesOnAndEndsBitEqual) {
  run_well(run("whole-run", {"--source-state", path("trained")}));
  const auto words = run("killed-run", {"--source-state", path("trained")});
  for (int life = 0; life < 3; ++life) kill_at_checkpoint(words, path("killed-run/seed-0"));
  const auto last = run_well(words);
  EXPECT_NE(last.err.find("goes on after"), std::string::npos) << last.err;
  for (const auto* file : {"results.json", "seed-0/model.safetensors", "seed-0/memory.safetensors",
                           "seed-0/steps/02/metrics.json"}) {
    EXPECT_EQ(read_text_file(path("killed-run") + "/" + file),
              read_text_file(path("whole-run") + "/" + file))
        << file;
  }
}

TEST_F(AdaptationTest, ListFilesGiveTheSameProtocolAsFolders) {
  std::string source, target;
  const std::vector<std::string> alphabetical = {"frame", "level", "upright"};
  for (size_t label = 0; label < 3; ++label) {
    // Byte order of the names, which is the order a folder is read in.
    for (int64_t i = 0; i < 16; ++i) {
      const std::vector<int64_t> order = {0, 1, 10, 11, 12, 13, 14, 15, 2, 3, 4, 5, 6, 7, 8, 9};
      source += "source/" + alphabetical[label] + "/" +
                std::to_string(order[static_cast<size_t>(i)]) + ".png " + std::to_string(label) +
                "\n";
      if (i < 10) {
        target += "target/" + alphabetical[label] + "/" + std::to_string(i) + ".png " +
                  std::to_string(label) + "\n";
      }
    }
  }
  fs::create_directories(path("lists"));
  write_file(*shared_ / "lists" / "source.txt", source);
  write_file(*shared_ / "lists" / "target.txt", target);
  // Both train their source model: from the folders, and from the list.
  run_well(run("by-folder"));
  run_well({"run", "--method", "proca", "--preset", path("own.toml"), "--data-root", path("lists"),
            "--root", path(""), "--source", "source", "--target", "target", "--out",
            path("by-list")});
  EXPECT_EQ(read_text_file(path("by-list/results.json")),
            read_text_file(path("by-folder/results.json")));
}

TEST_F(AdaptationTest, PresetsAndMethodsAreListed) {
  const auto presets = run_well({"presets"}).out;
  for (const auto* name :
       {"office31-ci", "office-home-ci", "imagenet-caltech-ci", "digits-ci", "demo"}) {
    EXPECT_NE(presets.find(name), std::string::npos) << name;
  }
  const auto methods = run_well({"methods"}).out;
  for (const auto* name : {"source-only", "proca"}) {
    EXPECT_NE(methods.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace proca

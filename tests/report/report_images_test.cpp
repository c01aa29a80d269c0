// The images of a report: what source and target look like, and what is behind mistakes.

#include <fmt/format.h>

#include "report/images/image_set.h"
#include "report/images/mistakes.h"
#include "report/images/strips.h"
#include "report/images/thumbnails.h"
#include "report/report_fixture.h"
#include "support/test_images.h"

namespace proca::report {
namespace {

namespace fs = std::filesystem;

// A folder per class with two images each.
fs::path write_classes(const fs::path& folder, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    for (const auto* file : {"1.png", "2.png"}) {
      test::write_png(folder / name / file, data::Image::black(8, 8));
    }
  }
  return folder;
}

bool is_thumbnail(const json& src) {
  return src.get<std::string>().starts_with("data:image/jpeg;base64,");
}

class ReportImagesTest : public ReportDataTest {
 protected:
  // A run whose images and preset are still there, with what was predicted in its step.
  fs::path run_with_images() {
    write_classes(folder_ / "images/sketch", {"bag", "cup", "fan"});
    write_classes(folder_ / "images/photo", {"bag", "cup", "fan"});
    write_file(folder_ / "own.toml", "summary = \"own\"\nclasses-per-step = 1\nsteps = 2\n");
    const auto run = unfinished_run();
    write_file(run / "run.toml",
               fmt::format("preset = \"{}\"\nsource = \"sketch\"\ntarget = \"photo\"\n"
                           "data-root = \"{}\"\nmethod = \"proca\"\nepochs = 2\n"
                           "# step 1: classes 0\n# step 2: classes 1\n",
                           (folder_ / "own.toml").string(), (folder_ / "images").string()));
    state::StateWriter writer(run / "seed-3");
    auto manifest = state::StateDirectory::read_manifest(run / "seed-3");
    manifest.model.class_names = {"bag", "cup", "fan"};
    const auto image = [&](const std::string& name) {
      return (folder_ / "images/photo" / name).string();
    };
    writer.put_text("steps/01/predictions.csv",
                    fmt::format("path,label,predicted\n{},0,2\n{},0,0\n{},1,0\n</script>.png,1,1\n",
                                image("bag/1.png"), image("bag/2.png"), image("cup/1.png")));
    writer.commit(manifest);
    return run;
  }
};

TEST_F(ReportImagesTest, ARunShowsAClassInAColumnOfSourceAndTarget) {
  const auto run = collect({run_with_images()}).at("runs").at(0);
  for (const auto* domain : {"source", "target"}) {
    const auto& strip = run.at("pictures").at(domain);
    ASSERT_EQ(strip.size(), 2u) << domain;  // of the classes in the schedule
    for (int64_t label = 0; label < 2; ++label) {
      EXPECT_EQ(strip.at(static_cast<size_t>(label)).at("label"), label);
      EXPECT_TRUE(is_thumbnail(strip.at(static_cast<size_t>(label)).at("src")));
    }
  }
  EXPECT_EQ(run.at("pictures").at("target").at(1).at("path"),
            (folder_ / "images/photo/cup/1.png").string());
}

TEST_F(ReportImagesTest, TheLastStepHasTheImagesBehindItsMistakes) {
  const auto document = collect({run_with_images()});
  const auto& step = document.at("runs").at(0).at("seeds").at(0).at("steps").at(1);
  ASSERT_EQ(step.at("mistakes").size(), 2u);
  const auto& first = step.at("mistakes").at(0);
  EXPECT_EQ(first.at("label"), 0);
  EXPECT_EQ(first.at("predicted"), 2);
  EXPECT_EQ(first.at("images").at(0).at("path"), (folder_ / "images/photo/bag/1.png").string());
  EXPECT_TRUE(is_thumbnail(first.at("images").at(0).at("src")));
  EXPECT_EQ(step.at("mistakes").at(1).at("label"), 1);
  // The image that is kept as one of class 0 shows class 1.
  EXPECT_EQ(step.at("prototypes").at(0).at("images").at(0).at("true_label"), 1);
}

TEST_F(ReportImagesTest, ImagesThatHaveGoneAreNames) {
  const auto folder = run_with_images();
  fs::remove_all(folder_ / "images");
  const auto run = collect({folder}).at("runs").at(0);
  EXPECT_FALSE(run.contains("pictures"));
  const auto& mistakes = run.at("seeds").at(0).at("steps").at(1).at("mistakes");
  ASSERT_EQ(mistakes.size(), 2u);
  EXPECT_FALSE(mistakes.at(0).at("images").at(0).contains("src"));
}

TEST_F(ReportImagesTest, ABrokenImageIsLeftOut) {
  const auto folder = run_with_images();
  write_file(folder_ / "images/photo/bag/1.png", "no picture");
  const auto run = collect({folder}).at("runs").at(0);
  EXPECT_EQ(run.at("pictures").at("target").size(), 1u);
  const auto& mistakes = run.at("seeds").at(0).at("steps").at(1).at("mistakes");
  EXPECT_FALSE(mistakes.at(0).at("images").at(0).contains("src"));
  EXPECT_TRUE(mistakes.at(1).at("images").at(0).contains("src"));
}

TEST_F(ReportImagesTest, OnlyTheFirstRunWithImagesHasAStrip) {
  const auto first = unfinished_run("plain");  // its preset is nowhere
  const auto second = run_with_images();
  const auto runs = collect({first, second, second}).at("runs");
  EXPECT_FALSE(runs.at(0).contains("pictures"));
  EXPECT_TRUE(runs.at(1).contains("pictures"));
  EXPECT_FALSE(runs.at(2).contains("pictures"));
}

TEST_F(ReportImagesTest, AStateShowsTheImagesOfItsLastStepWithTheirPseudoLabels) {
  write_classes(folder_ / "source", {"bag", "cup", "fan"});
  test::write_png(folder_ / "monday/a.png", data::Image::black(8, 8));
  test::write_state(folder_ / "state", /*labelled=*/false);
  {
    state::StateWriter writer(folder_ / "state");
    auto manifest = state::StateDirectory::read_manifest(folder_ / "state");
    manifest.source = (folder_ / "source").string();
    manifest.model.class_names = {"bag", "cup", "fan"};
    writer.put_text("steps/01/pseudo_labels.csv",
                    fmt::format("path,label\n{},2\n{},1\n", (folder_ / "monday/a.png").string(),
                                (folder_ / "monday/gone.png").string()));
    writer.commit(manifest);
  }
  const auto pictures = collect({folder_ / "state"}).at("runs").at(0).at("pictures");
  EXPECT_EQ(pictures.at("source").size(), 3u);
  ASSERT_EQ(pictures.at("target").size(), 1u);
  EXPECT_EQ(pictures.at("target").at(0).at("pseudo"), 2);
  EXPECT_TRUE(is_thumbnail(pictures.at("target").at(0).at("src")));
}

TEST_F(ReportImagesTest, OptionsSayWhatWouldBeUsual) {
  const auto options = collect({run_with_images()}).at("runs").at(0).at("options");
  const auto option = [&](const std::string& key) {
    for (const auto& entry : options) {
      if (entry.at("key") == key) return entry;
    }
    return json();
  };
  EXPECT_EQ(option("epochs"),
            (json{{"section", ""}, {"key", "epochs"}, {"value", "2"}, {"usual", "auto"}}));
  EXPECT_FALSE(option("data-root").contains("usual"));
}

TEST(ImageSetTest, NamesOfFoldersListsAndMissingFilesAreNoImages) {
  const test::TemporaryFolder folder;
  test::write_png(folder / "a.png", data::Image::black(8, 8));
  write_file(folder / "list.txt", (folder / "a.png").string() + "\n");
  const auto name = [&](const char* file) { return (folder / file).string(); };
  const auto images =
      ImageSet::of_files({name("a.png"), name("list.txt"), name("gone.png"), name("")});
  ASSERT_TRUE(images);
  EXPECT_EQ(images->listing().size(), 2);
  EXPECT_FALSE(images->thumbnail(*images->find(name("a.png"))).empty());
  EXPECT_TRUE(images->thumbnail(*images->find(name("list.txt"))).empty());
  EXPECT_FALSE(images->find(name("gone.png")));
  EXPECT_FALSE(ImageSet::of_files({name("gone.png")}));
  EXPECT_FALSE(ImageSet::open(name("gone"), {}));
}

TEST(MistakesTest, EveryPairHasAnImageBeforeAnyHasTwo) {
  std::vector<LabelledPrediction> predictions;
  for (int i = 0; i < 20; ++i) predictions.push_back({fmt::format("a{}", i), 0, 1});
  for (int i = 0; i < 3; ++i) predictions.push_back({fmt::format("b{}", i), 2, 0});
  for (int i = 0; i < 5; ++i) predictions.push_back({fmt::format("right{}", i), 1, 1});
  predictions.push_back({"c", 1, 2});
  const auto sizes = [&](int64_t most) {
    std::vector<size_t> numbers;
    for (const auto& group : mistakes_json(predictions, nullptr, most)) {
      numbers.push_back(group.at("images").size());
    }
    return numbers;
  };
  EXPECT_EQ(sizes(0), (std::vector<size_t>{}));
  EXPECT_EQ(sizes(2), (std::vector<size_t>{1, 1}));
  EXPECT_EQ(sizes(4), (std::vector<size_t>{2, 1, 1}));
  EXPECT_EQ(sizes(1000), (std::vector<size_t>{12, 3, 1}));
  EXPECT_TRUE(mistakes_json({{"x", 1, 1}}, nullptr, 9).empty());
}

// A PNG whose EXIF says that the camera was turned by a quarter: orientation 6.
std::string turned_png(const data::Image& image) {
  using namespace std::string_literals;
  const auto exif = "eXIfII*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"s;
  auto chunk = "\0\0\0\x1a"s + exif;
  const uint32_t crc = crc32(bytes_of(exif));
  for (int shift = 24; shift >= 0; shift -= 8) chunk += static_cast<char>(crc >> shift);
  return test::png_text(image).insert(33, chunk);  // behind the header
}

TEST(ImageSetTest, ThumbnailsAreUprightAsInEvaluation) {
  const test::TemporaryFolder folder;
  auto image = test::coordinate_image(24, 16);
  write_file(folder / "turned.png", turned_png(image));
  const auto images = ImageSet::of_files({(folder / "turned.png").string()});
  ASSERT_TRUE(images);
  EXPECT_NE(images->thumbnail(0), thumbnail_url(image));
  image.orientation = 6;
  EXPECT_EQ(images->thumbnail(0), thumbnail_url(data::upright(image)));
}

TEST(StripsTest, AreOfEightImagesAtMostEvenlySpread) {
  const test::TemporaryFolder folder;
  std::vector<std::string> names;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 20; ++i) {
    names.push_back(fmt::format("c{:02}", i));
    labels.push_back(i);
  }
  const auto images = ImageSet::open(write_classes(folder / "x", names), {});
  ASSERT_TRUE(images);
  const auto strip = labelled_strip(*images, labels);
  ASSERT_EQ(strip.size(), 8u);
  EXPECT_EQ(strip.at(0).at("label"), 0);
  EXPECT_EQ(strip.at(7).at("label"), 17);
  EXPECT_EQ(unlabelled_strip(*images, {}).size(), 8u);
  EXPECT_EQ(unlabelled_strip(*images, {}).at(0).at("pseudo"), data::kNoLabel);
}

}  // namespace
}  // namespace proca::report

#include "demo/demo_data.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "protocol/listings.h"
#include "protocol/preset.h"
#include "support/temporary_folder.h"

namespace proca::demo {
namespace {

namespace fs = std::filesystem;

constexpr DemoDomain kDomains[] = {DemoDomain::kSketch, DemoDomain::kPhoto};

/// Skips where the program was built without cairo, and only there.
class DemoDataTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      draw_demo_image(DemoDomain::kSketch, 0, 0);
    } catch (const Error& error) {
      const std::string message = error.what();
      if (message.find("libcairo2-dev") == std::string::npos) throw;
      GTEST_SKIP() << message;
    }
  }
};

uint32_t checksum(const data::Image& image) { return crc32(image.pixels); }

/// Path below the folder -> content.
std::map<std::string, std::string> content_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[fs::relative(entry.path(), folder).string()] = read_text_file(entry.path());
    }
  }
  return files;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(DemoClassNamesTest, AreAtLeastSixteenInAlphabeticalOrderWithoutRepeats) {
  const auto names = demo_class_names();
  EXPECT_GE(names.size(), 16u);
  // less_equal: a repeated name would be out of order too.
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end(), std::less_equal<>()));
}

TEST_F(DemoDataTest, AnImageIsTheSameEveryTimeItIsDrawn) {
  for (const DemoDomain domain : kDomains) {
    for (const int64_t class_index : {0, 7, 15}) {
      EXPECT_EQ(checksum(draw_demo_image(domain, class_index, 3, {.seed = 5})),
                checksum(draw_demo_image(domain, class_index, 3, {.seed = 5})));
    }
  }
}

TEST_F(DemoDataTest, AnImageDoesNotDependOnHowManyThereAre) {
  EXPECT_EQ(checksum(draw_demo_image(DemoDomain::kPhoto, 2, 1, {.target_per_class = 2})),
            checksum(draw_demo_image(DemoDomain::kPhoto, 2, 1, {.target_per_class = 500})));
}

TEST_F(DemoDataTest, SeedsClassesNumbersAndDomainsAllGiveOtherPictures) {
  for (const DemoDomain domain : kDomains) {
    const auto reference = checksum(draw_demo_image(domain, 1, 0, {.seed = 1}));
    EXPECT_NE(reference, checksum(draw_demo_image(domain, 1, 0, {.seed = 2})));
    EXPECT_NE(reference, checksum(draw_demo_image(domain, 2, 0, {.seed = 1})));
    EXPECT_NE(reference, checksum(draw_demo_image(domain, 1, 1, {.seed = 1})));
  }
  EXPECT_NE(checksum(draw_demo_image(DemoDomain::kSketch, 1, 0)),
            checksum(draw_demo_image(DemoDomain::kPhoto, 1, 0)));
}

TEST_F(DemoDataTest, ImagesHaveTheSizeAskedFor) {
  for (const int64_t size : {16, 32, 64, 256}) {
    for (const DemoDomain domain : kDomains) {
      const data::Image image = draw_demo_image(domain, 4, 0, {.image_size = size});
      EXPECT_EQ(image.width, size);
      EXPECT_EQ(image.height, size);
      EXPECT_EQ(image.pixels.size(), static_cast<size_t>(size * size * 3));
    }
  }
}

TEST_F(DemoDataTest, AThingKeepsItsPlaceWhenTheSizeChanges) {
  // Averaging 64 pixels down to 32 must give nearly the picture drawn at 32.
  const data::Image large = draw_demo_image(DemoDomain::kSketch, 6, 0, {.image_size = 64});
  const data::Image small = draw_demo_image(DemoDomain::kSketch, 6, 0, {.image_size = 32});
  double difference = 0;
  for (int64_t y = 0; y < 32; ++y) {
    for (int64_t x = 0; x < 32; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        const auto at = [&](int64_t dx, int64_t dy) {
          return large.pixels[static_cast<size_t>(((2 * y + dy) * 64 + 2 * x + dx) * 3 + c)];
        };
        const double average = (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1)) / 4.0;
        difference += std::abs(average - small.pixels[static_cast<size_t>((y * 32 + x) * 3 + c)]);
      }
    }
  }
  EXPECT_LT(difference / (32 * 32 * 3), 6.0);
}

TEST_F(DemoDataTest, SketchesAreMostlyWhiteAndPhotosAreNot) {
  const auto num_classes = static_cast<int64_t>(demo_class_names().size());
  const auto bright_share = [](const data::Image& image) {
    const auto bright = std::count_if(image.pixels.begin(), image.pixels.end(),
                                      [](uint8_t level) { return level >= 200; });
    return static_cast<double>(bright) / static_cast<double>(image.pixels.size());
  };
  double sketch = 0, photo = 0;
  for (int64_t k = 0; k < num_classes; ++k) {
    for (int64_t i = 0; i < 4; ++i) {
      const data::Image drawing = draw_demo_image(DemoDomain::kSketch, k, i);
      EXPECT_GT(bright_share(drawing), 0.5) << demo_class_names()[static_cast<size_t>(k)];
      const auto [darkest, brightest] =
          std::minmax_element(drawing.pixels.begin(), drawing.pixels.end());
      EXPECT_GT(*brightest - *darkest, 60) << "no line to be seen";
      sketch += bright_share(drawing);
      photo += bright_share(draw_demo_image(DemoDomain::kPhoto, k, i));
    }
  }
  EXPECT_GT(sketch / static_cast<double>(4 * num_classes), 0.7);
  EXPECT_LT(photo / static_cast<double>(4 * num_classes), 0.6);
}

TEST_F(DemoDataTest, ImagesOfOneClassVary) {
  for (size_t k = 0; k < demo_class_names().size(); ++k) {
    for (const DemoDomain domain : kDomains) {
      const data::Image first = draw_demo_image(domain, static_cast<int64_t>(k), 0);
      for (const int64_t index : {1, 2, 3}) {
        const data::Image other = draw_demo_image(domain, static_cast<int64_t>(k), index);
        double difference = 0;
        for (size_t p = 0; p < first.pixels.size(); ++p) {
          difference += std::abs(first.pixels[p] - other.pixels[p]);
        }
        EXPECT_GT(difference / static_cast<double>(first.pixels.size()), 8.0)
            << demo_class_names()[k];
      }
    }
  }
}

TEST_F(DemoDataTest, RefusesClassesAndNumbersThatDoNotExist) {
  const auto num_classes = static_cast<int64_t>(demo_class_names().size());
  EXPECT_THROW(draw_demo_image(DemoDomain::kPhoto, -1, 0), InvalidOption);
  EXPECT_THROW(draw_demo_image(DemoDomain::kPhoto, num_classes, 0), InvalidOption);
  EXPECT_THROW(draw_demo_image(DemoDomain::kPhoto, 0, -1), InvalidOption);
}

TEST(DemoDataOptionsTest, NamesTheOptionThatIsOutOfRange) {
  EXPECT_NO_THROW(DemoDataOptions{}.validate());
  const std::vector<std::pair<DemoDataOptions, std::string>> cases = {
      {{.image_size = 15}, "image-size"},
      {{.image_size = 257}, "image-size"},
      {{.source_per_class = 0}, "source-per-class"},
      {{.source_per_class = 10000}, "source-per-class"},
      {{.target_per_class = -3}, "target-per-class"},
      {{.target_per_class = 10000}, "target-per-class"},
  };
  for (const auto& [options, name] : cases) {
    try {
      options.validate();
      ADD_FAILURE() << name << " was accepted";
    } catch (const InvalidOption& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

TEST_F(DemoDataTest, WritesOneFolderPerDomainAndClass) {
  const test::TemporaryFolder folder;
  write_demo_data(folder / "a/b/demo", {.source_per_class = 3, .target_per_class = 2});
  EXPECT_EQ(names_in(folder / "a/b"), std::vector<std::string>{"demo"});
  EXPECT_EQ(names_in(folder / "a/b/demo"),
            (std::vector<std::string>{"demo-data.txt", "photo", "sketch"}));
  EXPECT_EQ(names_in(folder / "a/b/demo/sketch"), demo_class_names());
  EXPECT_EQ(names_in(folder / "a/b/demo/photo"), demo_class_names());
  for (const auto& name : demo_class_names()) {
    EXPECT_EQ(names_in(folder / "a/b/demo/sketch" / name),
              (std::vector<std::string>{"0001.png", "0002.png", "0003.png"}));
    EXPECT_EQ(names_in(folder / "a/b/demo/photo" / name),
              (std::vector<std::string>{"0001.png", "0002.png"}));
  }
  EXPECT_EQ(read_text_file(folder / "a/b/demo/demo-data.txt"),
            "image-size = 32\nsource-per-class = 3\ntarget-per-class = 2\nseed = 0\n");
}

TEST_F(DemoDataTest, FilesDoNotDependOnTheOrderInWhichThreadsDraw) {
  const test::TemporaryFolder folder;
  const DemoDataOptions options{.image_size = 16, .source_per_class = 2, .target_per_class = 2};
  for (const auto* name : {"1", "5"}) write_demo_data(folder / name, options);
  EXPECT_EQ(content_of(folder / "1"), content_of(folder / "5"));
}

TEST_F(DemoDataTest, FillsAnEmptyFolderAndReplacesEarlierDemoData) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "demo");
  write_demo_data(folder / "demo/",
                  {.image_size = 16, .source_per_class = 2, .target_per_class = 1});
  write_demo_data(folder / "demo",
                  {.image_size = 16, .source_per_class = 1, .target_per_class = 1});
  EXPECT_EQ(names_in(folder / "demo/sketch/fish"), std::vector<std::string>{"0001.png"});
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"demo"});
}

TEST_F(DemoDataTest, LeavesAFolderAloneThatHoldsSomethingElse) {
  const test::TemporaryFolder folder;
  // Without our mark even folders of the same name may be somebody's pictures.
  write_file(folder / "holiday.txt", "mine");
  fs::create_directories(folder / "other/sketch");
  write_demo_data(folder / "mixed",
                  {.image_size = 16, .source_per_class = 1, .target_per_class = 1});
  write_file(folder / "mixed/notes.txt", "mine");
  for (const auto& path :
       {folder.path(), folder / "other", folder / "mixed", folder / "holiday.txt"}) {
    const auto before = content_of(folder.path());
    EXPECT_THROW(write_demo_data(path), InputError) << path;
    EXPECT_EQ(content_of(folder.path()), before);
  }
}

TEST_F(DemoDataTest, RefusesAPlaceThatCannotBeWrittenTo) {
  const test::TemporaryFolder folder;
  write_file(folder / "file", "");
  EXPECT_THROW(write_demo_data(folder / "file/demo"), InputError);
  EXPECT_THROW(write_demo_data("/proc/demo"), InputError);
}

TEST(DemoPresetTest, LeavesOneClassToTheSource) {
  const auto schedule = protocol::make_schedule(protocol::find_preset("demo"), "sketch", "photo",
                                                test::listing_of(demo_class_names()));
  ASSERT_EQ(schedule.num_steps(), 5);
  EXPECT_EQ(schedule.all().size(), demo_class_names().size() - 1);
}

}  // namespace
}  // namespace proca::demo

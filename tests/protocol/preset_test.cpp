#include "protocol/preset.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "proca/core/file.h"
#include "protocol/listings.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca::protocol {
namespace {

using test::listing_of;
using test::message_of;
using test::numbered_listing;
using Labels = std::vector<int64_t>;
using Words = std::vector<std::string>;

TEST(PresetTest, ProgramBringsItsPresets) {
  Words names;
  for (const auto& preset : all_presets()) {
    names.push_back(preset.name);
    EXPECT_FALSE(preset.summary.empty()) << preset.name;
    EXPECT_LE(preset.summary.size(), 60u) << preset.name;
  }
  EXPECT_EQ(names, (Words{"demo", "digits-ci", "imagenet-caltech-ci", "office-home-ci",
                          "office31-ci", "pacs-ci"}));
}

TEST(PresetTest, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_EQ(message_of<InvalidOption>([] { find_preset("office31"); }),
            "unknown preset \"office31\"; did you mean \"office31-ci\"?");
  EXPECT_EQ(message_of<InvalidOption>([] { find_preset("visda"); }),
            "unknown preset \"visda\"; there are demo, digits-ci, imagenet-caltech-ci, "
            "office-home-ci, office31-ci, pacs-ci, or a file ending in .toml");
}

TEST(PresetTest, OwnFileIsAPresetToo) {
  const test::TemporaryFolder folder;
  const auto file = (folder / "mine.toml").string();
  write_file(file, "classes-per-step = 2\nsteps = 1\n");
  EXPECT_EQ(find_preset(file).name, "mine");
  EXPECT_EQ(find_preset(file).orders.at("").classes_per_step, 2);
  write_file(file, "classes-per-step = 2\nstep = 1\n");
  EXPECT_EQ(message_of([&] { find_preset(file); }),
            file + ":2: unknown key \"step\"; did you mean \"steps\"?");
  EXPECT_NE(message_of([] { find_preset("nowhere/mine.toml"); }).find("nowhere/mine.toml"),
            std::string::npos);
}

TEST(PresetTest, SettingsOfThePaperAreThere) {
  const auto office_home = find_preset("office-home-ci");
  EXPECT_EQ(office_home.settings.at("pretrain").at("epochs"), Words{"100"});
  EXPECT_EQ(office_home.settings.at("adapt").at("epochs"), Words{"30"});
  EXPECT_EQ(office_home.settings.at("method.authors-code").at("capture-every"), Words{"15"});
  const auto caltech = find_preset("imagenet-caltech-ci");
  EXPECT_EQ(caltech.settings.at("pretrain").at("crop"), Words{"centre"});
  EXPECT_EQ(caltech.settings.at("pretrain").at("flip"), Words{"0"});
  EXPECT_EQ(caltech.settings.at("adapt").at("epochs"), Words{"15"});
  EXPECT_EQ(find_preset("office31-ci").settings.at("adapt").at("epochs"), Words{"10"});
}

TEST(PresetTest, MethodsHaveTheSettingsOfTheirAuthors) {
  // The value that wins for a method and task.
  const auto value = [](const std::string& preset, const std::string& method,
                        const std::string& source, const std::string& target,
                        const std::string& option) {
    const auto found = find_preset(preset);
    Words values;
    for (const auto& table : method_tables(found, method, source, target)) {
      const auto& settings = found.settings.at(table);
      if (settings.contains(option)) values = settings.at(option);
    }
    return values;
  };
  EXPECT_EQ(value("office31-ci", "pada", "amazon", "dslr", "lr"), Words{"1e-3"});
  EXPECT_EQ(value("office31-ci", "pada-prototypes", "dslr", "amazon", "lr"), Words{"3e-4"});
  EXPECT_EQ(value("office31-ci", "ba3us", "dslr", "amazon", "cot-weight"), Words{"5"});
  const auto office_home = [&](const std::string& source, const std::string& target,
                               const std::string& option) {
    return value("office-home-ci", "pada", source, target, option);
  };
  EXPECT_EQ(office_home("Art", "Product", "reversal-high"), Words{"0.5"});
  EXPECT_EQ(office_home("Art", "Real_World", "reversal-high"), Words{"0.25"});
  EXPECT_EQ(office_home("Product", "Real_World", "reversal-high"), Words{"0.3"});
  EXPECT_EQ(office_home("Clipart", "Real_World", "reversal-high"), Words{"0.5"});
  EXPECT_EQ(office_home("Clipart", "Real_World", "refresh-every"), Words{"1000"});
  EXPECT_EQ(office_home("Real_World", "Art", "reversal-high"), Words{"1"});
  EXPECT_EQ(office_home("Real_World", "Art", "softmax-scale"), Words{"1"});
  EXPECT_EQ(office_home("Real_World", "Art", "lr"), Words{"3e-4"});
  EXPECT_EQ(office_home("Real_World", "Clipart", "lr"), Words{"1e-3"});
  EXPECT_EQ(office_home("Real_World", "Clipart", "softmax-scale"), Words{"10"});
  EXPECT_EQ(value("imagenet-caltech-ci", "pada", "imagenet", "caltech", "bottleneck"), Words{"0"});
  EXPECT_EQ(value("imagenet-caltech-ci", "pada", "caltech", "imagenet", "bottleneck"), Words{});
  EXPECT_EQ(value("imagenet-caltech-ci", "ba3us", "caltech", "imagenet", "iterations"),
            Words{"40000"});
}

TEST(PresetTest, SharedClassesOfCaltechFillStepsOfOtherSizes) {
  const auto preset = find_preset("imagenet-caltech-ci");
  // 84 classes: 8 steps of 10, 5 of 15, 4 of 20, 2 of 30 and 2 of 40
  const std::vector<std::pair<int64_t, int64_t>> steps_by_size = {{0, 8},  {10, 8}, {15, 5},
                                                                  {20, 4}, {30, 2}, {40, 2}};
  for (const auto& [size, steps] : steps_by_size) {
    const auto schedule = make_schedule(preset, "caltech", "imagenet", numbered_listing(256), size);
    EXPECT_EQ(schedule.num_steps(), steps) << size;
    EXPECT_EQ(schedule.first_classes, (Labels{0, 2, 7, 9, 11, 27, 28, 29, 30, 33})) << size;
  }
}

TEST(MethodTablesTest, MoreSpecificTablesComeLast) {
  const auto preset = parse_preset(
      "classes-per-step = 1\nsteps = 1\n[domains]\na = \"a\"\nb = \"b\"\n"
      "[for.pada.a.b]\nlr = 1\n[for.pada.\"*\".b]\nlr = 1\n[for.pada.a]\nlr = 1\n"
      "[for.pada]\nlr = 1\n[for.padas]\nlr = 1\n[for.pada-prototypes]\nlr = 1\n"
      "[for.etn-prototypes.a]\nlr = 1\n",
      "mine", "mine.toml");
  const auto tables = [&](const std::string& method, const std::string& source,
                          const std::string& target) {
    return method_tables(preset, method, source, target);
  };
  EXPECT_EQ(tables("pada", "a", "b"),
            (Words{"for.pada", "for.pada.a", "for.pada.*.b", "for.pada.a.b"}));
  EXPECT_EQ(tables("pada", "b", "a"), Words{"for.pada"});
  EXPECT_EQ(tables("pada", "a", "c"), (Words{"for.pada", "for.pada.a"}));
  // What is said of a method holds with prototypes too, unless that has its own words.
  EXPECT_EQ(tables("pada-prototypes", "c", "b"),
            (Words{"for.pada", "for.pada.*.b", "for.pada-prototypes"}));
  EXPECT_EQ(tables("etn-prototypes", "a", "b"), Words{"for.etn-prototypes.a"});
  EXPECT_EQ(tables("etn", "a", "b"), Words{});
  EXPECT_EQ(tables("proca", "a", "b"), Words{});
}

TEST(PresetTest, Office31ArrivesByLabel) {
  Words names;
  for (int64_t i = 0; i < 31; ++i) names.push_back("class_" + std::to_string(100 + i));
  const auto schedule =
      make_schedule(find_preset("office31-ci"), "amazon", "dslr", listing_of(names));
  ASSERT_EQ(schedule.num_steps(), 3);
  EXPECT_EQ(schedule.steps[0], (Labels{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(schedule.steps[2], (Labels{20, 21, 22, 23, 24, 25, 26, 27, 28, 29}));
  EXPECT_EQ(schedule.first_classes, schedule.steps[0]);
  EXPECT_EQ(schedule.all().size(), 30u);
}

TEST(PresetTest, OfficeHomeArrivesByNameOrAsTheAuthorsNumberIt) {
  const auto preset = find_preset("office-home-ci");
  auto folders = preset.orders.at("").classes;
  ASSERT_EQ(folders.size(), 65u);
  ASSERT_EQ(std::set<std::string>(folders.begin(), folders.end()).size(), 65u);
  std::sort(folders.begin(), folders.end());
  const auto by_name = make_schedule(preset, "Art", "Clipart", listing_of(folders));
  ASSERT_EQ(by_name.num_steps(), 6);
  const auto name = [&](int64_t step, size_t place) {
    return folders[static_cast<size_t>(by_name.steps[static_cast<size_t>(step)][place])];
  };
  EXPECT_EQ(name(0, 0), "Drill");
  EXPECT_EQ(name(0, 9), "Laptop");
  EXPECT_EQ(name(1, 7), "ToothBrush");
  EXPECT_EQ(name(5, 9), "Soda");

  const auto by_number = make_schedule(preset, "Art", "Clipart", numbered_listing(65));
  EXPECT_EQ(by_number.steps[1], (Labels{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
  // The authors' lists lie in folders with the names, numbered in the preset's order.
  const auto both =
      make_schedule(preset, "Art", "Clipart",
                    listing_of(preset.orders.at("").classes, data::LabelMeaning::kNumber));
  EXPECT_EQ(both.steps, by_number.steps);
}

TEST(PresetTest, ImageNetAndCaltechGroupByTheSourcesLabels) {
  const auto preset = find_preset("imagenet-caltech-ci");
  const auto to_caltech = make_schedule(preset, "imagenet", "caltech", numbered_listing(1000));
  ASSERT_EQ(to_caltech.num_steps(), 8);
  EXPECT_EQ(to_caltech.steps[0], (Labels{1, 9, 24, 39, 51, 69, 71, 79, 94, 99}));
  EXPECT_EQ(to_caltech.steps[7], (Labels{852, 859, 870, 872, 876, 879, 895, 907, 910, 920}));
  const auto to_imagenet = make_schedule(preset, "caltech", "imagenet", numbered_listing(256));
  EXPECT_EQ(to_imagenet.steps[4], (Labels{114, 115, 116, 123, 126, 128, 133, 134, 141, 145}));
  EXPECT_EQ(to_imagenet.steps[7], (Labels{209, 211, 215, 219, 225, 227, 228, 229, 230, 234}));
  EXPECT_EQ(to_imagenet.all().size(), 80u);
  for (const auto& [task, order] : preset.orders) {
    if (task.empty()) continue;
    EXPECT_EQ(order.classes.size(), 84u) << task;
    // By label, so ascending.
    Labels labels;
    for (const auto& word : order.classes) labels.push_back(std::stoll(word));
    EXPECT_TRUE(std::is_sorted(labels.begin(), labels.end())) << task;
  }
}

TEST(PresetTest, DigitsPresetCoversItsClasses) {
  const auto digits =
      make_schedule(find_preset("digits-ci"), "mnist", "usps", numbered_listing(10));
  ASSERT_EQ(digits.num_steps(), 5);
  EXPECT_EQ(digits.steps[4], (Labels{8, 9}));
}

}  // namespace
}  // namespace proca::protocol

#include <gtest/gtest.h>

#include "protocol/listings.h"
#include "protocol/preset.h"
#include "support/message_of.h"

namespace proca::protocol {
namespace {

using data::LabelMeaning;
using test::listing_of;
using test::message_of;
using test::numbered_listing;
using Labels = std::vector<int64_t>;
using Steps = std::vector<Labels>;

Preset preset_of(const std::string& toml) { return parse_preset(toml, "mine", "mine.toml"); }

ClassSchedule schedule_of(const std::string& toml, const data::ImageListing& listing) {
  return make_schedule(preset_of(toml), "a", "b", listing);
}

const data::ImageListing kFolders = listing_of({"bed", "cup", "fan", "pen"});
const std::string kOneByOne = "classes-per-step = 1\nsteps = 2\n";

TEST(MakeScheduleTest, NamesAreLookedUpAmongTheSources) {
  const auto schedule =
      schedule_of(kOneByOne + "class-order = [\"pen\", \"bed\", \"cup\"]\n", kFolders);
  EXPECT_EQ(schedule.steps, (Steps{{3}, {0}}));
  EXPECT_EQ(schedule.first_classes, Labels{3});
}

TEST(MakeScheduleTest, NumbersAreLabels) {
  EXPECT_EQ(schedule_of(kOneByOne + "class-order = [2, 1]\n", kFolders).steps, (Steps{{2}, {1}}));
  EXPECT_EQ(schedule_of(kOneByOne + "class-order = [2, 1]\n", numbered_listing(3)).steps,
            (Steps{{2}, {1}}));
}

TEST(MakeScheduleTest, FolderCalledByANumberIsMeantByItsName) {
  // By alphabet: "10" has label 0, "3" label 1.
  const auto folders = listing_of({"10", "3"});
  EXPECT_EQ(schedule_of(kOneByOne + "class-order = [3, 10]\n", folders).steps, (Steps{{1}, {0}}));
  // In a list file numbers are labels, whatever its folders are called.
  const auto list = listing_of({"1", "0"}, LabelMeaning::kNumber);
  EXPECT_EQ(schedule_of(kOneByOne + "class-order = [1, 0]\n", list).steps, (Steps{{1}, {0}}));
}

TEST(MakeScheduleTest, NamesCountFromZeroWhenTheListHasNone) {
  EXPECT_EQ(
      schedule_of(kOneByOne + "class-order = [\"pen\", \"bed\", \"cup\"]\n", numbered_listing(3))
          .steps,
      (Steps{{0}, {1}}));
}

TEST(MakeScheduleTest, TaskOverridesOnlyWhatItSays) {
  const std::string toml =
      "classes-per-step = 2\nsteps = 1\nclass-order = [3, 2, 1]\n"
      "[task.a.b]\nsteps = 2\nclasses-per-step = 1\n"
      "[task.b.a]\nclass-order = [0, 1]\ns1-classes = 1\n";
  EXPECT_EQ(schedule_of(toml, kFolders).steps, (Steps{{3}, {2}}));
  const auto other = make_schedule(preset_of(toml), "b", "a", kFolders);
  EXPECT_EQ(other.steps, (Steps{{0, 1}}));
  EXPECT_EQ(other.first_classes, Labels{0});
  EXPECT_EQ(make_schedule(preset_of(toml), "a", "c", kFolders).steps, (Steps{{3, 2}}));
}

TEST(MakeScheduleTest, StepsOfAnotherSizeTakeAsManyClassesAsTheyFill) {
  const auto by = [](int64_t classes_per_step, const std::string& toml) {
    return make_schedule(preset_of(toml), "a", "b", numbered_listing(9), classes_per_step);
  };
  const std::string seven = kOneByOne + "class-order = [8, 7, 6, 5, 4, 3, 2]\n";
  EXPECT_EQ(by(0, seven).steps, (Steps{{8}, {7}}));
  EXPECT_EQ(by(1, seven).steps, (Steps{{8}, {7}, {6}, {5}, {4}, {3}, {2}}));
  EXPECT_EQ(by(3, seven).steps, (Steps{{8, 7, 6}, {5, 4, 3}}));  // 7 / 3 = 2, one is left over
  EXPECT_EQ(by(7, seven).steps, (Steps{{8, 7, 6, 5, 4, 3, 2}}));
  EXPECT_EQ(by(4, kOneByOne).steps, (Steps{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  // S-1 is about the first step's classes unless the preset says how many.
  EXPECT_EQ(by(3, seven).first_classes, (Labels{8, 7, 6}));
  EXPECT_EQ(by(3, "s1-classes = 2\n" + seven).first_classes, (Labels{8, 7}));
}

TEST(MakeScheduleTest, StepCannotBeLargerThanTheClassOrder) {
  const auto by = [](int64_t classes_per_step, const std::string& toml) {
    return message_of(
        [&] { make_schedule(preset_of(toml), "a", "b", numbered_listing(9), classes_per_step); });
  };
  EXPECT_EQ(by(10, kOneByOne),
            "--classes-per-step: 10 are more than the 9 classes that preset mine has for a -> b");
  EXPECT_EQ(by(3, kOneByOne + "class-order = [1, 2]\n"),
            "--classes-per-step: 3 are more than the 2 classes that preset mine has for a -> b");
  EXPECT_EQ(by(1, "s1-classes = 3\n" + kOneByOne + "class-order = [1, 2]\n"),
            "preset mine: s1-classes: 3 are more than the 2 that arrive");
}

TEST(MakeScheduleTest, RefusesWhatTheSourceDoesNotHave) {
  struct Case {
    std::string toml;
    data::ImageListing listing;
    std::string message;
  };
  const std::vector<Case> cases = {
      {kOneByOne + "class-order = [\"pen\", \"bet\"]\n", kFolders,
       "preset mine: the class order has \"bet\", which is no class of data/source; the nearest "
       "is \"bed\""},
      {kOneByOne + "class-order = [\"pen\", \"violin\"]\n", kFolders,
       "preset mine: the class order has \"violin\", which is no class of data/source"},
      {kOneByOne + "class-order = [0, 4]\n", kFolders,
       "preset mine: the class order has label 4, but data/source has labels 0 to 3"},
      {kOneByOne + "class-order = [\"a\", \"b\", \"c\"]\n", numbered_listing(2),
       "preset mine: the class order has label 2, but data/source has labels 0 to 1"},
      {kOneByOne + "class-order = [\"pen\", 3]\n", kFolders,
       "preset mine: the class order has \"pen\" twice"},
      {kOneByOne + "class-order = [-1, 0]\n", kFolders,
       "preset mine: the class order has \"-1\", which is no class of data/source"},
      {"classes-per-step = 2\nsteps = 3\n", kFolders,
       "preset mine: 3 steps of 2 classes are more than the 4 classes of data/source"},
      {"classes-per-step = 5\nsteps = 1\n", kFolders,
       "preset mine: 1 steps of 5 classes are more than the 4 classes of data/source"},
      {"classes-per-step = 2\nsteps = 1\nclass-order = [1]\n", kFolders,
       "preset mine: 1 steps of 2 classes are more than the 1 classes of the class order"},
      {"classes-per-step = 4611686018427387904\nsteps = 4\n", kFolders,
       "preset mine: 4 steps of 4611686018427387904 classes are more than the 4 classes of "
       "data/source"},
      {kOneByOne + "s1-classes = 3\n", kFolders,
       "preset mine: s1-classes: 3 are more than the 2 that arrive"},
      {kOneByOne, listing_of({}), "data/source: the images have no labels"},
  };
  for (const auto& [toml, listing, message] : cases) {
    EXPECT_EQ(message_of([&, &toml = toml, &listing = listing] { schedule_of(toml, listing); }),
              message);
  }
}

TEST(ClassScheduleTest, SeenClassesGrowStepByStep) {
  const ClassSchedule schedule{.steps = {{4, 2}, {7}, {0, 1}}, .first_classes = {4, 2}};
  EXPECT_EQ(schedule.seen_after(0), (Labels{4, 2}));
  EXPECT_EQ(schedule.seen_after(1), (Labels{4, 2, 7}));
  EXPECT_EQ(schedule.all(), (Labels{4, 2, 7, 0, 1}));
  EXPECT_THROW(schedule.seen_after(3), std::out_of_range);
  EXPECT_TRUE(ClassSchedule{}.all().empty());
}

}  // namespace
}  // namespace proca::protocol

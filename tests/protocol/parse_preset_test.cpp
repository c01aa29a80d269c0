#include <gtest/gtest.h>

#include "protocol/preset.h"
#include "support/message_of.h"

namespace proca::protocol {
namespace {

using test::message_of;
using Words = std::vector<std::string>;

const std::string kSteps = "classes-per-step = 2\nsteps = 3\n";

Preset parse(const std::string& toml) { return parse_preset(toml, "mine", "mine.toml"); }

TEST(ParsePresetTest, ReadsEveryTable) {
  const auto preset = parse(
      "summary = \"Three things\"\n"
      "class-order = [\"cup\", 'bed', 4]\n"
      "classes-per-step = 1\n"
      "steps = 3\n"
      "s1-classes = 2\n"
      "[sources]\n"
      "photo = \"photo_train\"\n"
      "[domains]\n"
      "photo = [\"photo/images\", \"photo\"]\n"
      "\"Real World\" = [\"real\"]\n"
      "[task.photo.\"Real World\"]\n"
      "class-order = [4]\n"
      "steps = 1\n"
      "[pretrain]\n"
      "backbone = \"resnet18\"\n"
      "[adapt]\n"
      "epochs = 10\n"
      "[method]\n"
      "alpha = 0.2\n"
      "[method.paper]\n"
      "layers = [1, 2]\n");
  EXPECT_EQ(preset.name, "mine");
  EXPECT_EQ(preset.summary, "Three things");
  const auto& order = preset.orders.at("");
  EXPECT_EQ(order.classes, (Words{"cup", "bed", "4"}));
  EXPECT_EQ(order.classes_per_step, 1);
  EXPECT_EQ(order.num_steps, 3);
  EXPECT_EQ(order.s1_classes, 2);
  const auto& task = preset.orders.at("photo->Real World");
  EXPECT_EQ(task.classes, Words{"4"});
  EXPECT_EQ(task.num_steps, 1);
  EXPECT_EQ(task.classes_per_step, 0);
  // [sources] wins over [domains], even when it stands before.
  EXPECT_EQ(preset.sources.at("photo"), Words{"photo_train"});
  EXPECT_EQ(preset.targets.at("photo"), (Words{"photo/images", "photo"}));
  EXPECT_EQ(preset.sources.at("Real World"), Words{"real"});
  EXPECT_EQ(preset.settings.at("pretrain").at("backbone"), Words{"resnet18"});
  EXPECT_EQ(preset.settings.at("adapt").at("epochs"), Words{"10"});
  EXPECT_EQ(preset.settings.at("method").at("alpha"), Words{"0.2"});
  EXPECT_EQ(preset.settings.at("method.paper").at("layers"), (Words{"1", "2"}));
}

TEST(ParsePresetTest, MethodsHaveTablesByTask) {
  const auto preset = parse(kSteps +
                            "[for.pada]\nlr = 1e-3\n"
                            "[for.pada.a]\nlr = 2e-3\n"
                            "[for.pada.\"*\".b]\nlr = 3e-3\n"
                            "[for.pada.a.\"Real World\"]\nlr = 4e-3\nlayers = [1, 2]\n"
                            "[sources]\na = \"a\"\n"
                            "[targets]\nb = \"b\"\n\"Real World\" = \"real\"\n");
  EXPECT_EQ(preset.settings.at("for.pada").at("lr"), Words{"1e-3"});
  EXPECT_EQ(preset.settings.at("for.pada.a").at("lr"), Words{"2e-3"});
  EXPECT_EQ(preset.settings.at("for.pada.*.b").at("lr"), Words{"3e-3"});
  EXPECT_EQ(preset.settings.at("for.pada.a.Real World").at("layers"), (Words{"1", "2"}));
}

TEST(ParsePresetTest, LeastIsTheSizeAndNumberOfSteps) {
  const auto preset = parse(kSteps);
  EXPECT_TRUE(preset.orders.at("").classes.empty());
  EXPECT_EQ(preset.orders.at("").s1_classes, 0);
  EXPECT_TRUE(preset.sources.empty());
  EXPECT_TRUE(preset.settings.empty());
}

TEST(ParsePresetTest, RefusesBadFilesWithTheLine) {
  struct Case {
    std::string toml;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"steps = 3\n", "mine.toml: classes-per-step is missing at the top of the file"},
      {"classes-per-step = 3\n", "mine.toml: steps is missing at the top of the file"},
      {"classes-per-step = 0\nsteps = 3\n",
       "mine.toml:1: classes-per-step: \"0\" is not a whole number from 1"},
      {"classes-per-step = 2\nsteps = -1\n",
       "mine.toml:2: steps: \"-1\" is not a whole number from 1"},
      {"steps = 2.5\n", "mine.toml:1: steps: \"2.5\" is not a whole number from 1"},
      {"steps = \"three\"\n", "mine.toml:1: steps: \"three\" is not a whole number from 1"},
      {"steps = 99999999999999999999\n", "mine.toml:1: is not valid TOML: "},
      {"steps = [1, 2]\n", "mine.toml:1: steps takes one value, 2 given"},
      {"summary = [\"a\", \"b\"]\n", "mine.toml:1: summary takes one value, 2 given"},
      {"class-order = []\n", "mine.toml:1: class-order needs at least one value"},
      {"class-order = [\"a\", \"\"]\n", "mine.toml:1: class-order has an empty value"},
      {kSteps + "clas-order = [\"a\"]\n",
       "mine.toml:3: unknown key \"clas-order\"; did you mean \"class-order\"?"},
      {kSteps + "colour = 1\n",
       "mine.toml:3: unknown key \"colour\"; expected one of class-order, classes-per-step, steps, "
       "s1-classes, summary"},
      {kSteps + "[pretrian]\nepochs = 3\n",
       "mine.toml:4: unknown table [pretrian]; did you mean \"pretrain\"?"},
      {kSteps + "[adapt.paper]\nepochs = 3\n",
       "mine.toml:4: unknown table [adapt.paper]; expected one of domains, sources"},
      {kSteps + "[domains]\na = []\n", "mine.toml:4: a needs at least one value"},
      {kSteps + "[task.a.b]\nsteps = 1\nsummary = \"x\"\n",
       "mine.toml:5: unknown key \"summary\"; expected one of class-order"},
      {kSteps + "[task.a]\nsteps = 1\n",
       "mine.toml:4: the table of a task is called [task.source.target], not [task.a]"},
      {kSteps + "[task.a.b.c]\nsteps = 1\n",
       "mine.toml:4: the table of a task is called [task.source.target], not [task.a.b.c]"},
      {kSteps + "[task]\nsteps = 1\n",
       "mine.toml:4: the table of a task is called [task.source.target], not [task]"},
      {kSteps + "[for]\nlr = 1\n",
       "mine.toml:4: the table of a method is called [for.method], [for.method.source], "
       "[for.method.source.target] or [for.method.\"*\".target], not [for]"},
      {kSteps + "[for.pada.a.b.c]\nlr = 1\n",
       "mine.toml:4: the table of a method is called [for.method], [for.method.source], "
       "[for.method.source.target] or [for.method.\"*\".target], not [for.pada.a.b.c]"},
      {kSteps + "[for.pada.\"*\"]\nlr = 1\n", "mine.toml:4: the table of a method is called"},
      {kSteps + "[domains]\na = \"a\"\n[for.pada.a.\"*\"]\nlr = 1\n",
       "mine.toml:6: the table of a method is called"},
      {kSteps + "[for.pada.amazom]\nlr = 1\n[domains]\namazon = \"a\"\n",
       "mine.toml:4: [for.pada.amazom]: no table names a domain \"amazom\"; did you mean "
       "\"amazon\"?"},
      {kSteps + "[sources]\na = \"a\"\n[targets]\nb = \"b\"\n[for.pada.\"*\".a]\nlr = 1\n",
       "mine.toml:8: [for.pada.*.a]: no table names a domain \"a\""},
      {kSteps + "[for.pada.a]\nlr = 1\n",
       "mine.toml:4: [for.pada.a]: no table names a domain \"a\""},
      {kSteps + "steps = 4\n", "mine.toml:3: is not valid TOML: "},
      {"steps = three\n", "mine.toml:1: is not valid TOML: "},
  };
  for (const auto& [toml, message] : cases) {
    EXPECT_EQ(message_of([&] { parse(toml); }).substr(0, message.size()), message) << toml;
  }
}

}  // namespace
}  // namespace proca::protocol

#include <algorithm>

#include <gtest/gtest.h>

#include "experiments/protocol_runner.h"
#include "support/message_of.h"

namespace proca::experiments {
namespace {

using test::message_of;

const std::string kBenchmark =
    "classes-per-step = 1\nsteps = 1\n[domains]\nphoto = \"photo\"\nsketch = \"sketch\"\n";

// What a preset makes of the options that a user gave.
class Applied {
 public:
  explicit Applied(const std::string& tables,
                   const std::vector<std::pair<std::string, std::string>>& given = {}) {
    run_.bind(options_);
    run_.adapt.method.set_name("proca");
    run_.source = "photo";
    run_.target = "sketch";
    for (const auto& [name, value] : given) options_.find(name)->choose({value});
    run_.apply(protocol::parse_preset(kBenchmark + tables, "mine", "mine.toml"), options_);
  }

  const RunOptions& run() const { return run_; }
  // As TOML.
  std::string of_method(const std::string& name) const {
    const auto method = run_.adapt.method.resolve(run_.adapt.method_defaults);
    return method.options->find(name)->toml();
  }

 private:
  RunOptions run_;
  OptionSet options_;
};

TEST(RunOptionsTest, TableOfAMethodSetsAdaptationAndTheMethod) {
  const Applied applied(
      "[adapt]\nepochs = 3\nlr = 0.5\n[method]\nalpha = 0.1\neta = 2\n"
      "[for.proca]\nepochs = 7\nalpha = 0.3\n");
  EXPECT_EQ(applied.run().adapt.epochs, 7);
  EXPECT_EQ(applied.run().adapt.lr, 0.5);
  EXPECT_EQ(applied.of_method("alpha"), "0.3");
  EXPECT_EQ(applied.of_method("eta"), "2.0");
}

TEST(RunOptionsTest, TableOfAnotherMethodOrTaskIsPassedOver) {
  const Applied applied(
      "[adapt]\nepochs = 3\n[for.source-only]\nepochs = 7\n[for.proca.sketch]\nepochs = 8\n"
      "[for.proca.\"*\".photo]\nepochs = 9\n");
  EXPECT_EQ(applied.run().adapt.epochs, 3);
}

TEST(RunOptionsTest, MoreSpecificTableWinsAndTheUserOverAll) {
  const std::string tables =
      "[for.proca.photo.sketch]\nalpha = 0.4\n[for.proca.photo]\nalpha = 0.3\nepochs = 5\n"
      "[for.proca]\nalpha = 0.2\nepochs = 4\nlambda = 3\n";
  const Applied applied(tables);
  EXPECT_EQ(applied.of_method("alpha"), "0.4");
  EXPECT_EQ(applied.run().adapt.epochs, 5);
  const Applied chosen(tables, {{"alpha", "0.9"}, {"epochs", "11"}});
  EXPECT_EQ(chosen.of_method("alpha"), "0.9");
  EXPECT_EQ(chosen.run().adapt.epochs, 11);
  EXPECT_EQ(chosen.of_method("lambda"), "3.0");
}

TEST(RunOptionsTest, TableOfAMethodWinsOverItsVariantAndMayChooseIt) {
  const Applied applied(
      "[method]\ncapture-every = 3\npseudo-labels-every = 3\n"
      "[method.authors-code]\ncapture-every = 15\npseudo-labels-every = 15\n"
      "[for.proca]\nvariant = \"authors-code\"\ncapture-every = 20\n");
  EXPECT_EQ(applied.of_method("variant"), "\"authors-code\"");
  EXPECT_EQ(applied.of_method("capture-every"), "20");
  EXPECT_EQ(applied.of_method("pseudo-labels-every"), "15");
}

TEST(RunOptionsTest, BadTablesOfMethodsAreNamedThoughTheyDoNotHoldNow) {
  struct Case {
    std::string tables;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"[for.procca]\nepochs = 3\n",
       "preset mine: [for.procca]: unknown method \"procca\"; did you mean \"proca\"?"},
      {"[for.violin.sketch]\nepochs = 3\n",
       "preset mine: [for.violin.sketch]: unknown method \"violin\"; there are "},
      {"[for.proca]\nepoch = 3\n",
       "preset mine: [for.proca]: neither adaptation nor proca has an option \"epoch\""},
      {"[for.source-only]\nalpha = 0.1\n",
       "preset mine: [for.source-only]: neither adaptation nor source-only has an option "
       "\"alpha\""},
      {"[for.proca]\nmethod = \"source-only\"\n",
       "preset mine: [for.proca]: neither adaptation nor proca has an option \"method\""},
      {"[for.proca]\nbackbone = \"resnet18\"\n",
       "preset mine: [for.proca]: neither adaptation nor proca has an option \"backbone\""},
      {"[for.proca.\"*\".photo]\nepochs = 0\n",
       "preset mine, [for.proca.*.photo]: --epochs: \"0\" is out of range"},
      {"[for.proca.sketch]\nalpha = \"much\"\n",
       "preset mine, [for.proca.sketch]: --alpha: \"much\""},
  };
  for (const auto& [tables, message] : cases) {
    const auto thrown = message_of([&, &tables = tables] { Applied{tables}; });
    EXPECT_EQ(thrown.substr(0, message.size()), message) << tables;
  }
}

TEST(RunOptionsTest, PresetsOfTheProgramNameMethodsAndOptionsThatExist) {
  for (const auto& preset : protocol::all_presets()) {
    RunOptions run;
    OptionSet options;
    run.bind(options);
    EXPECT_NO_THROW(run.apply(preset, options)) << preset.name;
  }
}

}  // namespace
}  // namespace proca::experiments

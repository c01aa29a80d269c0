#include <gtest/gtest.h>

#include "proca/engine/source_trainer.h"

namespace proca::engine {
namespace {

Recipe recipe_of(const std::string& backbone, const std::string& weights) {
  SourceTrainingOptions options;
  options.backbone = backbone;
  options.weights = weights;
  return options.resolved_recipe();
}

TEST(SourceRecipeTest, WeightsAreFineTunedAtALowRate) {
  for (const auto& recipe :
       {recipe_of("resnet50", "resnet50.pth"), recipe_of("resnet-small", "small.pth"),
        recipe_of("script:b.pt", "")}) {
    EXPECT_EQ(recipe.epochs, 100);
    EXPECT_EQ(recipe.lr, 1e-3);
    EXPECT_EQ(recipe.head_lr, 1e-2);
    EXPECT_EQ(recipe.schedule, Schedule::kConstant);
    EXPECT_EQ(recipe.flip, 0.5);
  }
}

// torchvision trains with 0.1 for batches of 256.
TEST(SourceRecipeTest, RandomWeightsOfALargeNetworkGetARateByTheBatch) {
  const auto recipe = recipe_of("resnet50", "");
  EXPECT_EQ(recipe.epochs, 100);
  EXPECT_DOUBLE_EQ(recipe.lr, 0.0125);  // batches of 32
  EXPECT_DOUBLE_EQ(recipe.head_lr, 0.0125);
  EXPECT_EQ(recipe.schedule, Schedule::kCosine);
  EXPECT_EQ(recipe.flip, 0.5);
  SourceTrainingOptions options;
  options.batch_size = 256;
  EXPECT_DOUBLE_EQ(options.resolved_recipe().lr, 0.1);
  options.lr = 0.3;
  EXPECT_DOUBLE_EQ(options.resolved_recipe().lr, 0.3);
}

TEST(SourceRecipeTest, TheSmallNetworkKeepsItsOwn) {
  const auto recipe = recipe_of("resnet-small", "");
  EXPECT_EQ(recipe.epochs, 15);
  EXPECT_EQ(recipe.lr, 0.05);
  EXPECT_EQ(recipe.schedule, Schedule::kCosine);
  EXPECT_EQ(recipe.flip, 0);
}

}  // namespace
}  // namespace proca::engine

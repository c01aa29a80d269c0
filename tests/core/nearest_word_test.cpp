#include "core/nearest_word.h"

#include <gtest/gtest.h>

namespace proca {
namespace {

const std::vector<std::string> kKnown = {"resnet18", "resnet50", "resnet-small", "epochs", "lr"};

TEST(NearestWordTest, FindsTheWordThatWasMeant) {
  const struct {
    std::string_view typed, meant, why;
  } cases[] = {
      {"resnet50", "resnet50", "equal"},
      {"resnet5", "resnet50", "a character is missing"},
      {"resnet500", "resnet50", "a character too many"},
      {"resnat18", "resnet18", "a wrong character"},
      {"ersnet18", "resnet18", "two neighbours are swapped"},
      {"ResNet18", "resnet18", "another case"},
      {"resnet_small", "resnet-small", "an underscore for a hyphen"},
      {"resnetsmal", "resnet-small", "two edits in a long word"},
      {"l", "lr", "one edit is allowed even in a short word"},
  };
  for (const auto& [typed, meant, why] : cases)
    EXPECT_EQ(nearest_word(typed, kKnown), meant) << why;
}

TEST(NearestWordTest, SaysNothingWhenNothingIsNear) {
  const struct {
    std::string_view typed, why;
  } cases[] = {
      {"vgg16", "shares two digits only"},
      {"", "an empty word is near to everything short"},
      {"sp", "two edits in a short word"},
      {"small", "seven characters are missing"},
  };
  for (const auto& [typed, why] : cases) EXPECT_EQ(nearest_word(typed, kKnown), "") << why;
  EXPECT_EQ(nearest_word("epochs", {}), "");
}

TEST(NearestWordTest, TheFirstOfEquallyNearWordsWins) {
  EXPECT_EQ(nearest_word("resnet", kKnown), "resnet18");
  EXPECT_EQ(nearest_word("cart", {"card", "care"}), "card");
}

TEST(NearestWordTest, ANearerWordLaterInTheListWins) {
  EXPECT_EQ(nearest_word("resnet58", {"resnet14", "resnet50"}), "resnet50");
}

}  // namespace
}  // namespace proca

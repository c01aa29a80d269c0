// Resizes and crops against Pillow and torchvision.

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "data/crops.h"
#include "data/golden_files.h"

namespace proca::data {
namespace {

struct TransformCase {
  std::string line;
  std::string operation;
  std::vector<int64_t> arguments;  ///< source width and height first
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> expected;
};

std::vector<TransformCase> golden_transforms() {
  const auto bytes = test::golden_bytes(test::golden_folder() / "transforms.bin");
  auto next = bytes.begin();
  std::ifstream lines(test::golden_folder() / "transforms.txt");
  std::vector<TransformCase> cases;
  for (std::string line; std::getline(lines, line);) {
    TransformCase golden;
    golden.line = line;
    std::istringstream words(line);
    words >> golden.operation;
    std::string word;
    while (words >> word && word != ":") golden.arguments.push_back(std::stoll(word));
    words >> golden.width >> golden.height;
    const auto end = next + image_bytes(golden.width, golden.height);
    golden.expected.assign(next, end);
    next = end;
    cases.push_back(std::move(golden));
  }
  EXPECT_TRUE(next == bytes.end());
  return cases;
}

Image transformed(const TransformCase& golden) {
  const auto& a = golden.arguments;
  const Image source = test::pattern_image(a[0], a[1]);
  if (golden.operation == "resize") return resize(source, a[2], a[3]);
  if (golden.operation == "shorter_side") return resize_shorter_side(source, a[2]);
  if (golden.operation == "centre_crop") return test::crop(source, centre_box(a[0], a[1], a[2]));
  if (golden.operation == "resized_crop") {
    return test::resized_crop(source, {a[2], a[3], a[4], a[5]}, a[6], a[7]);
  }
  throw std::logic_error("unknown operation " + golden.operation);
}

TEST(TransformsTest, HaveExactlyThePixelsOfPillowAndTorchvision) {
  const auto cases = golden_transforms();
  ASSERT_EQ(cases.size(), 40u);
  for (const auto& golden : cases) {
    const Image result = transformed(golden);
    EXPECT_EQ(result.width, golden.width) << golden.line;
    EXPECT_EQ(result.height, golden.height) << golden.line;
    EXPECT_TRUE(result.pixels == golden.expected) << golden.line;
  }
}

}  // namespace
}  // namespace proca::data

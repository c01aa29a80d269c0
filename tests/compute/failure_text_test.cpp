#include "compute/failure_text.h"

#include <functional>
#include <new>
#include <string>

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/types.h>

namespace proca::compute {
namespace {

// What LibTorch throws, without the stack behind it.
std::string text_of_failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return failure_text(error);
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(FailureTextTest, IsOneLineWithoutAStack) {
  const auto shapes = text_of_failure([] { torch::ones({2, 3}).mm(torch::ones({2, 3})); });
  EXPECT_NE(shapes.find("shapes cannot be multiplied"), std::string::npos) << shapes;
  const auto check = text_of_failure([] { TORCH_CHECK(false, "a rule is broken"); });
  EXPECT_EQ(check, "a rule is broken");
  EXPECT_EQ(text_of_failure([] { throw std::runtime_error(" first\nsecond\n"); }), "first");
  for (const auto& text : {shapes, check}) EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(FailureTextTest, OfAScriptIsWhatTheScriptSays) {
  torch::jit::Module module("m");
  module.define(
      "def forward(self, x: Tensor):\n    assert False, \"the image is too small\"\n"
      "    return x\n");
  const auto text = text_of_failure([&] { module.forward({torch::ones({1})}); });
  EXPECT_NE(text.find("the image is too small"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(FailureTextTest, KnowsWhenMemoryWasWanted) {
  std::string wanted;
  try {
    torch::empty({int64_t{1} << 60});
  } catch (const std::exception& error) {
    wanted = memory_wanted(error);
  }
  EXPECT_EQ(wanted, "4611686018427.4 MB of memory");
  EXPECT_EQ(memory_wanted(std::bad_alloc()), "memory");
  EXPECT_EQ(memory_wanted(std::runtime_error("CUDA out of memory. Tried to allocate 2.00 GiB")),
            "memory of the GPU");
  EXPECT_EQ(memory_wanted(std::runtime_error("something else")), "");
}

}  // namespace
}  // namespace proca::compute

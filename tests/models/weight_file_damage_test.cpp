// Damaged files: whatever is cut off or flipped, the reader refuses the file or
// returns tensors that lie inside it. It never crashes.

#include <gtest/gtest.h>
#include <torch/types.h>

#include "models/weight_bytes.h"
#include "models/weights/safetensors.h"

namespace proca::models {
namespace {

std::string content_of(const std::string& name) {
  if (name == "safetensors") {
    return test::safetensors_bytes({{"a", torch::arange(4)},
                                    {"b", torch::ones({2, 3}, torch::kHalf)},
                                    {"c", torch::tensor({true, false})}},
                                   {{"key", "value"}});
  }
  return read_text_file(std::filesystem::path(PROCA_TEST_DATA) / name);
}

/// Reads a file that should be refused or be small and sound.
void expect_harmless(const std::string& bytes, const std::string& what) {
  try {
    const auto file = test::read_bytes(bytes);
    for (const auto& [name, tensor] : file.tensors) {
      EXPECT_LE(tensor.storage().nbytes(), bytes.size()) << what;
      EXPECT_LE(tensor.numel(), static_cast<int64_t>(bytes.size())) << what;
      // Every element can be touched.
      EXPECT_TRUE(tensor.to(torch::kFloat64).sum().defined()) << what;
    }
  } catch (const InputError& error) {
    EXPECT_FALSE(std::string(error.what()).empty());
  }
}

class DamageTest : public testing::TestWithParam<const char*> {};

TEST_P(DamageTest, EveryPrefixIsRefused) {
  const auto content = content_of(GetParam());
  ASSERT_EQ(test::refusal(content), "");
  for (size_t size = 0; size < content.size(); ++size) {
    EXPECT_NE(test::refusal(content.substr(0, size)), "") << "the first " << size << " bytes";
  }
}

TEST_P(DamageTest, EveryFlippedBitIsHarmless) {
  const auto content = content_of(GetParam());
  for (size_t i = 0; i < content.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = content;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      expect_harmless(damaged, "bit " + std::to_string(bit) + " of byte " + std::to_string(i));
    }
  }
}

TEST_P(DamageTest, EveryRepeatedOrMissingByteIsHarmless) {
  const auto content = content_of(GetParam());
  for (size_t i = 0; i < content.size(); ++i) {
    auto longer = content, shorter = content;
    expect_harmless(longer.insert(i, 1, longer[i]), "byte " + std::to_string(i) + " twice");
    expect_harmless(shorter.erase(i, 1), "without byte " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, DamageTest,
                         testing::Values("safetensors", "checkpoint_zip.pth",
                                         "checkpoint_stream.pth", "protocol4_stream.pth",
                                         "state_dict_stream.pth"));

}  // namespace
}  // namespace proca::models

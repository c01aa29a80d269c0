#pragma once

#include <filesystem>

#include <gtest/gtest.h>

#include "proca/state/state_directory.h"

namespace proca::engine {

/// Two states are equal in all that a step decides: model, memory, the method's own state and,
/// where they are kept, features and decisions of step 1.
inline void expect_equal_states(const std::filesystem::path& first,
                                const std::filesystem::path& second) {
  const state::StateDirectory a(first), b(second);
  EXPECT_EQ(a.manifest().step, b.manifest().step);
  EXPECT_EQ(a.manifest().model.neck, b.manifest().model.neck);
  for (const auto* file : {"model.safetensors", "memory.safetensors", "method.safetensors",
                           "steps/01/features.safetensors"}) {
    ASSERT_EQ(std::filesystem::exists(first / file), std::filesystem::exists(second / file))
        << file;
    if (!std::filesystem::exists(first / file)) continue;
    const auto ours = a.read_tensors(file).tensors, theirs = b.read_tensors(file).tensors;
    ASSERT_EQ(ours.size(), theirs.size()) << file;
    for (const auto& [name, tensor] : ours) {
      EXPECT_TRUE(torch::equal(tensor, theirs.at(name))) << file << " " << name;
    }
  }
  for (const auto* file :
       {"steps/01/detection.json", "steps/01/pseudo_labels.csv", "steps/01/prototypes.json"}) {
    ASSERT_EQ(std::filesystem::exists(first / file), std::filesystem::exists(second / file))
        << file;
    if (!std::filesystem::exists(first / file)) continue;
    EXPECT_EQ(a.read_text(file), b.read_text(file)) << file;
  }
}

}  // namespace proca::engine

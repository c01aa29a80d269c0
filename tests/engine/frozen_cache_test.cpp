#include "engine/frozen_cache.h"
#include "state/state_writer.h"

#include <fstream>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "models/weights/safetensors.h"
#include "proca/core/file.h"
#include "proca/engine/adapter.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

models::NamedTensors numbers(double value) {
  return {{"a", torch::full({2, 3}, value, torch::kFloat32)}, {"b", torch::zeros({4})}};
}

class FrozenCacheTest : public ::testing::Test {
 protected:
  // From a new cache on the same folder, as in the next run; `value` if it is computed.
  double get(const std::string& key, double value) {
    was_found_ = true;
    const auto tensors = FrozenCache(folder_ / "cache")
                             .get([&] { return key; },
                                  [&] {
                                    was_found_ = false;
                                    return numbers(value);
                                  });
    return tensors.at("a")[1][2].item<double>();
  }
  fs::path file_of(const std::string& key) const {
    return FrozenCache(folder_ / "cache").file_of(key);
  }

  test::TemporaryFolder folder_;
  bool was_found_ = false;
};

TEST_F(FrozenCacheTest, TensorsAreKeptByKey) {
  EXPECT_EQ(get("one", 1), 1);
  EXPECT_FALSE(was_found_);
  EXPECT_EQ(get("one", 2), 1);
  EXPECT_TRUE(was_found_);
  EXPECT_EQ(get("another", 3), 3);
  EXPECT_FALSE(was_found_);
}

TEST_F(FrozenCacheTest, DamageAnywhereIsFoundAndRepaired) {
  get("one", 1);
  const auto path = file_of("one");
  const auto whole = read_text_file(path);
  for (size_t offset = 0; offset < whole.size(); offset += 3) {
    auto damaged = whole;
    damaged[offset] = static_cast<char>(damaged[offset] ^ 4);
    write_file(path, damaged);
    EXPECT_EQ(get("one", 5), 5) << "byte " << offset;
    EXPECT_FALSE(was_found_);
  }
  for (const size_t size : {size_t{0}, size_t{7}, whole.size() - 1}) {
    write_file(path, whole.substr(0, size));
    EXPECT_EQ(get("one", 6), 6) << size << " bytes";
    EXPECT_EQ(get("one", 7), 6);
    EXPECT_TRUE(was_found_);
  }
}

TEST_F(FrozenCacheTest, AFileWithAnotherKeyIsNotUsed) {
  get("one", 1);
  fs::rename(file_of("one"), file_of("two"));
  EXPECT_EQ(get("two", 2), 2);
  EXPECT_FALSE(was_found_);
}

TEST_F(FrozenCacheTest, AFolderThatCannotBeWrittenCostsAWarning) {
  write_file(folder_ / "cache", "a file where the folder should be");
  EXPECT_EQ(get("one", 1), 1);
  EXPECT_EQ(get("one", 2), 2);
  FrozenCache none;
  EXPECT_EQ(none.get([] { return "one"; }, [] { return numbers(3); }).at("a")[0][0].item<double>(),
            3);
}

// Through the adapter: what a step decides, with and without a cache.
class FrozenModelTest : public ::testing::Test {
 protected:
  void SetUp() override { test::train_bars(folder_ / "bars", folder_ / "source"); }

  fs::path fresh_state() {
    const auto state = folder_ / ("state-" + std::to_string(states_++));
    copy_source_state(folder_ / "source", state);
    return state;
  }
  fs::path adapt(const fs::path& state, const std::string& cache) {
    AdaptOptions options;
    options.epochs = 1;
    options.batch_size = 8;
    options.method_defaults = {{"prototypes", {"3"}}, {"variant", {"paper"}}};
    options.frozen_cache = cache.empty() ? "" : (folder_ / cache).string();
    Adapter(options, state).adapt(test::target_bars({0, 1}, 12));
    return state;
  }
  std::vector<fs::path> files(const std::string& cache) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_ / cache)) files.push_back(entry);
    return files;
  }
  static void expect_equal(const fs::path& first, const fs::path& second) {
    const auto a = state::StateDirectory(first).read_tensors("model.safetensors").tensors;
    const auto b = state::StateDirectory(second).read_tensors("model.safetensors").tensors;
    for (const auto& [name, tensor] : a) EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;
    EXPECT_EQ(pseudo_labels(first), pseudo_labels(second));
  }
  static std::string pseudo_labels(const fs::path& state) {
    return state::StateDirectory(state).read_text("steps/01/pseudo_labels.csv");
  }

  test::TemporaryFolder folder_;
  int states_ = 0;
};

TEST_F(FrozenModelTest, ARunWithTheCacheEndsBitEqualToOneWithout) {
  const auto without = adapt(fresh_state(), "");
  const auto first = adapt(fresh_state(), "cache");
  EXPECT_EQ(files("cache").size(), 2);  // its outputs on the target, and the centres
  const auto second = adapt(fresh_state(), "cache");
  EXPECT_EQ(files("cache").size(), 2);
  expect_equal(without, first);
  expect_equal(without, second);
}

// The tensors in the cache are replaced by others: the run uses those.
TEST_F(FrozenModelTest, TheSourceModelDoesNotRunAgain) {
  const auto first = adapt(fresh_state(), "cache");
  for (const auto& path : files("cache")) {
    const auto file = models::read_safetensors(path);
    auto tensors = file.tensors;
    for (auto& [name, tensor] : tensors) tensor = tensor.roll(1, name == "centres" ? 0 : 1);
    fs::remove(path);
    FrozenCache(folder_ / "cache")
        .get([&] { return file.metadata.at("question"); }, [&] { return tensors; });
  }
  EXPECT_NE(pseudo_labels(adapt(fresh_state(), "cache")), pseudo_labels(first));
}

TEST_F(FrozenModelTest, AnotherPreprocessingIsAnotherKey) {
  adapt(fresh_state(), "cache");
  const auto state = fresh_state();
  auto manifest = state::StateDirectory(state).manifest();
  manifest.model.preprocessing.mean[1] += 0.01;
  state::StateWriter(state).commit(manifest);
  adapt(state, "cache");
  EXPECT_EQ(files("cache").size(), 4);
}

}  // namespace
}  // namespace proca::engine

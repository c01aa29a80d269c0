// Damage to any file of a state: cut off at every boundary, or with a flipped bit. It is found
// with the file's name when the state is opened, before anything is computed from it.

#include <bit>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/random.h"
#include "proca/engine/adapter.h"
#include "support/message_of.h"
#include "support/target_bars.h"
#include "support/temporary_folder.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;

void replace(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// Where a file can be cut: nothing, one byte, at the end of the header, of each tensor, before
// the last byte.
std::set<size_t> boundaries(const std::string& name, const std::string& content) {
  std::set<size_t> cuts = {0, 1, content.size() / 2, content.size() - 1};
  if (!name.ends_with(".safetensors")) return cuts;
  uint64_t length = 0;
  std::memcpy(&length, content.data(), sizeof length);
  const size_t data = sizeof length + length;
  cuts.insert({sizeof length, data});
  const auto header = nlohmann::json::parse(content.substr(sizeof length, length));
  for (const auto& [tensor, entry] : header.items()) {
    if (tensor != "__metadata__") cuts.insert(data + entry.at("data_offsets")[1].get<size_t>());
  }
  cuts.erase(content.size());
  return cuts;
}

class StateDamageTest : public ::testing::Test {
 protected:
  // A state after one step, in the middle of the next: it has every kind of file.
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::train_bars(*shared_ / "bars", state());
    AdaptOptions options;
    options.epochs = 3;
    options.batch_size = 8;
    options.checkpoint_every = 0;
    options.load.cache_ram = 0;
    options.method_defaults = {{"prototypes", {"2"}}, {"capture-first", {"0"}}};
    Adapter(options, state()).adapt(test::target_bars({0, 1}, 8));
    EXPECT_THROW(Adapter(options, state())
                     .adapt(std::make_shared<test::DyingImages>(test::target_bars({2}, 16), 100)),
                 Error);
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static fs::path state() { return *shared_ / "state"; }

  static std::vector<std::string> files() {
    std::vector<std::string> names;
    const auto text = read_text_file(state() / "state.json");
    const auto manifest = nlohmann::json::parse(text);
    for (const auto& [name, record] : manifest.at("files").items()) names.push_back(name);
    return names;
  }

  static void expect_found(const std::string& name, const std::string& what) {
    const auto message = test::message_of([] { const state::StateDirectory opened(state()); });
    EXPECT_NE(message.find(name), std::string::npos) << what << ": " << message;
  }

  static test::TemporaryFolder* shared_;
};
test::TemporaryFolder* StateDamageTest::shared_ = nullptr;

TEST_F(StateDamageTest, TheStateHasEveryKindOfFile) {
  const state::StateDirectory opened(state());
  EXPECT_TRUE(opened.manifest().adapting.has_value());
  for (const auto* name :
       {"model.safetensors", "source.safetensors", "centres.safetensors", "memory.safetensors",
        "method.safetensors", "training.safetensors", "training.toml", "adapt.toml", "config.toml",
        "steps/01/detection.json"}) {
    EXPECT_TRUE(opened.has(name)) << name;
  }
}

TEST_F(StateDamageTest, EveryFileThatIsCutOffIsNamed) {
  for (const auto& name : files()) {
    const auto content = read_text_file(state() / name);
    for (const size_t size : boundaries(name, content)) {
      replace(state() / name, content.substr(0, size));
      expect_found(name, std::to_string(size) + " bytes of " + std::to_string(content.size()));
    }
    replace(state() / name, content + '\0');
    expect_found(name, "a byte too many");
    replace(state() / name, content);
  }
  EXPECT_NO_THROW(state::StateDirectory{state()});
}

TEST_F(StateDamageTest, EveryFileWithAFlippedBitIsNamed) {
  RandomStream random(0, "flipped bits");
  for (const auto& name : files()) {
    const auto content = read_text_file(state() / name);
    for (int flip = 0; flip < 20; ++flip) {
      const auto at = static_cast<size_t>(random.uniform_int(static_cast<int64_t>(content.size())));
      auto damaged = content;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.uniform_int(8)));
      replace(state() / name, damaged);
      expect_found(name, "byte " + std::to_string(at));
    }
    replace(state() / name, content);
  }
  EXPECT_NO_THROW(state::StateDirectory{state()});
}

// state.json names the others and has a checksum of itself.
TEST_F(StateDamageTest, AnyFlippedBitOfTheManifestIsFound) {
  const auto content = read_text_file(state() / "state.json");
  RandomStream random(0, "flipped bits of the manifest");
  for (size_t at = 0; at < content.size(); ++at) {
    auto damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.uniform_int(8)));
    replace(state() / "state.json", damaged);
    const auto message = test::message_of([] { state::StateDirectory::read_manifest(state()); });
    EXPECT_NE(message.find("state.json"), std::string::npos) << at << ": " << message;
  }
  for (size_t size = 0; size < content.size(); size += 7) {
    replace(state() / "state.json", content.substr(0, size));
    expect_found("state.json", std::to_string(size) + " bytes");
  }
  replace(state() / "state.json", content.substr(0, content.size() - 1));
  expect_found("state.json", "all but the last byte");
  replace(state() / "state.json", content);
  EXPECT_NO_THROW(state::StateDirectory{state()});
}

// Before there were checksums of the manifest one could change it by hand.
TEST_F(StateDamageTest, TheMessageSaysWhatIsWrong) {
  const auto content = read_text_file(state() / "state.json");
  auto edited = content;
  edited.replace(edited.find("\"step\": 1"), 9, "\"step\": 2");
  replace(state() / "state.json", edited);
  EXPECT_EQ(test::message_of([] { state::StateDirectory::read_manifest(state()); }),
            (state() / "state.json").string() + ": is damaged: its checksum does not match");
  const auto seal = content.rfind(",\n  \"crc32\"");
  replace(state() / "state.json", content.substr(0, seal) + "\n}\n");
  EXPECT_EQ(test::message_of([] { state::StateDirectory::read_manifest(state()); }),
            (state() / "state.json").string() + ": damaged: it has no checksum");
  replace(state() / "state.json", content);
}

}  // namespace
}  // namespace proca::engine

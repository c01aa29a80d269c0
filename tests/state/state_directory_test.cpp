#include "state/state_writer.h"

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/temporary_folder.h"

namespace proca::state {
namespace {

namespace fs = std::filesystem;

Manifest manifest(int64_t epoch) {
  Manifest result;
  result.epoch = epoch;
  result.phase = Phase::kReady;
  result.model.backbone = "resnet-small";
  result.model.stride_in = models::StrideIn::k1x1;
  result.model.class_names = {"a", "b c", "ü"};
  result.model.preprocessing.image_size = 32;
  result.model.preprocessing.resize = {data::ResizeOptions::Mode::kShorterSide, 40};
  result.source = "/data/source";
  result.source_files = "89abcdef";
  result.config_digest = "0123abcd";
  result.events_bytes = 17;
  return result;
}

void commit(StateWriter& writer, int64_t epoch) {
  writer.put_tensors("model.safetensors", {{"w", torch::full({3}, epoch, torch::kFloat32)}}, {});
  writer.put_text("config.toml", "epoch = " + std::to_string(epoch) + "\n");
  writer.commit(manifest(epoch));
}

int64_t epoch_of_model(const StateDirectory& state) {
  return state.read_tensors("model.safetensors").tensors.at("w")[0].item<int64_t>();
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

void expect_error(const std::function<void()>& work, const std::string& part) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown; expected: " << part;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// What Tab completion writes; the folder above a file of `state/` is `state`, not `state/`.
TEST(StateDirectoryTest, TheFolderMayBeSpeltInAnyWay) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "d");
  for (const auto* name : {"a/", "./b", "./c/", ".//e//", "d/../f/", "d//g", "h/."}) {
    const auto place = (folder / "").string() + name;
    {
      StateWriter writer(place);
      commit(writer, 1);
      writer.put_text("steps/01/detection.json", "{}\n");
      writer.commit(manifest(2));
    }
    const StateDirectory state(place);
    EXPECT_EQ(state.manifest().epoch, 2) << name;
    EXPECT_EQ(state.read_text("steps/01/detection.json"), "{}\n") << name;
    EXPECT_EQ(epoch_of_model(state), 1) << name;
    for (const auto& entry : fs::recursive_directory_iterator(place)) {
      EXPECT_NE(entry.path().extension(), ".next") << entry.path();
    }
  }
}

// A script is a program: that of a state is its own file, with a checksum.
TEST(StateDirectoryTest, AScriptBackboneIsTheStatesOwnFile) {
  const test::TemporaryFolder folder;
  const auto with_backbone = [&](const std::string& backbone, const std::string& file) {
    const auto place = folder / "state";
    fs::remove_all(place);
    StateWriter writer(place);
    if (!file.empty()) writer.put_text(file, "a module");
    auto described = manifest(1);
    described.model.backbone = backbone;
    writer.commit(described);
    return place;
  };
  EXPECT_NO_THROW(StateDirectory(with_backbone("script:backbone.pt", "backbone.pt")));
  write_file(folder / "outside.pt", "a module");
  const struct {
    std::string backbone, file;
  } cases[] = {
      {"script:backbone.pt", ""},
      {"script:config.toml", "config.toml"},
      {"script:../outside.pt", "backbone.pt"},
      {"script:" + (folder / "outside.pt").string(), "backbone.pt"},
      {"script:./backbone.pt", "backbone.pt"},
      {"script:", "backbone.pt"},
  };
  for (const auto& [backbone, file] : cases) {
    const auto place = with_backbone(backbone, file);
    expect_error([&] { const StateDirectory opened(place); }, "is not the state's own backbone.pt");
    expect_error([&] { StateDirectory::read_manifest(place); }, "backbone \"" + backbone + "\"");
  }
}

// A state that someone gave us must not make us write elsewhere.
TEST(StateWriterTest, WritesThroughNoLinkInTheState) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    commit(writer, 1);
  }
  fs::create_directory(folder / "elsewhere");
  write_file(folder / "elsewhere" / "notes.next", "mine");
  fs::remove(folder / "state" / "lock");
  fs::create_symlink(folder / "notes", folder / "state" / "lock");
  expect_error([&] { const StateWriter writer(folder / "state"); }, "lock: cannot be written");
  fs::remove(folder / "state" / "lock");
  fs::create_directories(folder / "state" / "steps");
  fs::create_directory_symlink(folder / "elsewhere", folder / "state" / "steps" / "02");
  StateWriter writer(folder / "state");
  expect_error([&] { writer.put_text("steps/02/metrics.json", "{}"); }, "02: cannot be written");
  EXPECT_EQ(names_in(folder / "elsewhere"), std::set<std::string>{"notes.next"});
  EXPECT_FALSE(fs::exists(folder / "notes"));
}

TEST(StateWriterTest, CurvesOfATrainingThatWasKilledAreNotForeign) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "state" / "curves" / "run");
  write_file(folder / "state" / "curves" / "run" / "events.out.tfevents.17.host.1.0", "");
  write_file(folder / "state" / "events.out.tfevents.18.host.1.0", "");
  {
    StateWriter writer(folder / "state");
    commit(writer, 1);
  }
  fs::create_directories(folder / "other" / "curves");
  write_file(folder / "other" / "curves" / "events.out.tfevents.17.host.1.0", "");
  write_file(folder / "other" / "curves" / "thesis.tex", "");
  expect_error([&] { const StateWriter writer(folder / "other"); }, "holds curves");
}

TEST(StateDirectoryTest, TheFolderMayBeTheCurrentOne) {
  const test::TemporaryFolder folder;
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  {
    StateWriter writer(".");
    writer.put_text("steps/01/detection.json", "{}\n");
    commit(writer, 3);
  }
  EXPECT_EQ(epoch_of_model(StateDirectory("./")), 3);
  fs::current_path(before);
}

TEST(StateDirectoryTest, ReadsBackWhatWasWritten) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    commit(writer, 3);
  }
  const StateDirectory state(folder / "state");
  const auto& read = state.manifest();
  EXPECT_EQ(read.phase, Phase::kReady);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_EQ(read.model.backbone, "resnet-small");
  EXPECT_EQ(read.model.stride_in, models::StrideIn::k1x1);
  EXPECT_EQ(read.model.class_names, manifest(3).model.class_names);
  EXPECT_EQ(read.model.preprocessing.image_size, 32);
  EXPECT_EQ(read.model.preprocessing.resize.size, 40);
  EXPECT_EQ(read.model.preprocessing.resize.mode, data::ResizeOptions::Mode::kShorterSide);
  EXPECT_EQ(read.model.preprocessing.resize.orientation, data::Orientation::kUpright);
  EXPECT_EQ(read.source, "/data/source");
  EXPECT_EQ(read.source_files, "89abcdef");
  EXPECT_EQ(read.config_digest, "0123abcd");
  EXPECT_EQ(read.events_bytes, 17);
  EXPECT_EQ(state.read_text("config.toml"), "epoch = 3\n");
  EXPECT_EQ(epoch_of_model(state), 3);
}

TEST(StateDirectoryTest, AReaderKeepsItsCheckpointWhileTheNextIsWritten) {
  const test::TemporaryFolder folder;
  StateWriter writer(folder / "state");
  commit(writer, 1);
  const StateDirectory old_state(folder / "state");
  commit(writer, 2);
  EXPECT_EQ(epoch_of_model(old_state), 1);
  EXPECT_EQ(old_state.read_text("config.toml"), "epoch = 1\n");
  EXPECT_EQ(epoch_of_model(StateDirectory(folder / "state")), 2);
}

TEST(StateDirectoryTest, AWriterReadsItsOwnLastCheckpoint) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    EXPECT_FALSE(writer.state().has("config.toml"));
    commit(writer, 1);
    EXPECT_EQ(epoch_of_model(writer.state()), 1);
    writer.put_text("config.toml", "not yet");
    EXPECT_EQ(writer.state().read_text("config.toml"), "epoch = 1\n");
    commit(writer, 2);
    EXPECT_EQ(epoch_of_model(writer.state()), 2);
    EXPECT_EQ(writer.state().manifest().epoch, 2);
    writer.remove("config.toml");
    EXPECT_TRUE(writer.state().has("config.toml"));
    writer.commit(manifest(3));
    EXPECT_FALSE(writer.state().has("config.toml"));
  }
  const StateWriter next(folder / "state");
  EXPECT_EQ(epoch_of_model(next.state()), 2);
  EXPECT_EQ(next.state().manifest().epoch, 3);
}

TEST(StateDirectoryTest, FilesAreCopiedFromAnotherState) {
  const test::TemporaryFolder folder;
  StateWriter writer(folder / "state");
  commit(writer, 1);
  StateWriter other(folder / "other");
  other.put_copy("source.safetensors", writer.state(), "model.safetensors");
  other.commit(manifest(0));
  const StateDirectory copy(folder / "other");
  EXPECT_EQ(copy.read_tensors("source.safetensors").tensors.at("w")[2].item<double>(), 1);
  EXPECT_EQ(copy.fingerprint("source.safetensors"),
            writer.state().fingerprint("model.safetensors"));
  expect_error([&] { other.put_copy("adapt.toml", writer.state(), "adapt.toml"); },
               "is not part of this state");
}

TEST(StateDirectoryTest, TheManifestCanBeReadAlone) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    commit(writer, 4);
  }
  fs::remove(folder / "state" / "model.safetensors");
  EXPECT_EQ(StateDirectory::read_manifest(folder / "state").epoch, 4);
  expect_error([&] { StateDirectory::read_manifest(folder / "none"); }, "no such state directory");
}

TEST(StateDirectoryTest, FilesStagedButNotCommittedDoNotCount) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    commit(writer, 1);
    writer.put_text("config.toml", "half-written");  // and then it is killed
  }
  EXPECT_EQ(StateDirectory(folder / "state").read_text("config.toml"), "epoch = 1\n");
  { const StateWriter next(folder / "state"); }
  EXPECT_EQ(names_in(folder / "state"),
            (std::set<std::string>{"config.toml", "lock", "model.safetensors", "state.json"}));
}

// Killed after state.json was replaced and before the files were renamed.
TEST(StateDirectoryTest, UnfinishedRenamesAreReadAndFinished) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    commit(writer, 1);
    fs::copy_file(folder / "state" / "config.toml", folder / "old.toml");
    commit(writer, 2);
  }
  const auto file = folder / "state" / "config.toml";
  fs::rename(file, file.string() + ".next");
  fs::copy_file(folder / "old.toml", file);

  EXPECT_EQ(StateDirectory(folder / "state").read_text("config.toml"), "epoch = 2\n");
  { const StateWriter next(folder / "state"); }
  EXPECT_FALSE(fs::exists(file.string() + ".next"));
  EXPECT_EQ(StateDirectory(folder / "state").read_text("config.toml"), "epoch = 2\n");
}

TEST(StateDirectoryTest, RemovedFilesAreGoneAfterTheCommit) {
  const test::TemporaryFolder folder;
  StateWriter writer(folder / "state");
  commit(writer, 1);
  writer.remove("config.toml");
  EXPECT_TRUE(fs::exists(folder / "state" / "config.toml"));
  writer.commit(manifest(1));
  EXPECT_FALSE(fs::exists(folder / "state" / "config.toml"));
  const StateDirectory state(folder / "state");
  EXPECT_FALSE(state.has("config.toml"));
  expect_error([&] { state.read_text("config.toml"); }, "is not part of this state");
}

// No checkpoint has them, and a watcher may be writing one of them.
TEST(StateDirectoryTest, FilesOfAWatcherStay) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    commit(writer, 1);
  }
  const auto names = {"watch.json", "watch.jsonl", "watch.lock", "watch.json.tmp-1"};
  for (const auto* name : names) std::ofstream(folder / "state" / name) << "x";
  const StateWriter writer(folder / "state");
  for (const auto* name : names) EXPECT_TRUE(fs::exists(folder / "state" / name)) << name;
}

TEST(StateDirectoryTest, DamageIsFoundWithTheFilesName) {
  for (const std::string name : {"model.safetensors", "config.toml"}) {
    const test::TemporaryFolder folder;
    {
      StateWriter writer(folder / "state");
      commit(writer, 1);
    }
    const auto path = folder / "state" / name;
    const auto size = fs::file_size(path);
    for (size_t offset = 0; offset < size; offset += 7) {
      std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(static_cast<std::streamoff>(offset));
      const char byte = static_cast<char>(stream.peek());
      stream.seekp(static_cast<std::streamoff>(offset)).put(static_cast<char>(byte ^ 1)).flush();
      expect_error([&] { const StateDirectory state(folder / "state"); }, name);
      stream.seekp(static_cast<std::streamoff>(offset)).put(byte).flush();
    }
    EXPECT_NO_THROW(StateDirectory(folder / "state"));
    fs::resize_file(path, size - 1);
    expect_error([&] { const StateDirectory state(folder / "state"); }, name);
    fs::remove(path);
    expect_error([&] { const StateDirectory state(folder / "state"); }, name);
  }
}

TEST(StateDirectoryTest, BadManifestsAreRefused) {
  const test::TemporaryFolder folder;
  expect_error([&] { const StateDirectory state(folder / "none"); }, "no such state directory");
  expect_error([&] { const StateDirectory state(folder.path()); }, "has no state.json");
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "damaged"},
           {"{", "damaged"},
           {"[]", "damaged"},
           {"{\"format_version\": 1}", "damaged"},
           {"{\"format_version\": 99}", "format version 99"}}) {
    std::ofstream(folder / "state.json") << text;
    expect_error([&] { const StateDirectory state(folder.path()); }, part);
  }
}

TEST(StateDirectoryTest, ASecondWriterIsRefusedWithTheFirstOnesId) {
  const test::TemporaryFolder folder;
  const StateWriter writer(folder / "state");
  expect_error([&] { const StateWriter second(folder / "state"); }, std::to_string(getpid()));
}

TEST(StateDirectoryTest, AWriterThatNeverCommitsLeavesNothing) {
  const test::TemporaryFolder folder;
  {
    StateWriter writer(folder / "state");
    writer.put_text("config.toml", "x");
  }
  EXPECT_FALSE(fs::exists(folder / "state"));
}

}  // namespace
}  // namespace proca::state

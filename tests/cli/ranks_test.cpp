// Several processes that train one model, as launchers start them.

#include <filesystem>
#include <sstream>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "proca/core/file.h"
#include "proca/methods/method.h"
#include "proca/models/weight_file.h"
#include "support/file_calls.h"
#include "support/run_program.h"
#include "support/shapes_data.h"

namespace proca {
namespace {

namespace fs = std::filesystem;
using test::ProgramResult;

// A port of this machine that nobody else gets while this lives. It is bound, but not listened
// on, and shares its address: so rank 0 can.
class Port {
 public:
  Port() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    EXPECT_EQ(::bind(descriptor_, any, size), 0);
    EXPECT_EQ(::getsockname(descriptor_, any, &size), 0);
    number_ = std::to_string(ntohs(address.sin_port));
  }
  ~Port() { ::close(descriptor_); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const std::string& number() const { return number_; }
  // From here on connections are taken, but nobody answers.
  int listen() const { return ::listen(descriptor_, 8); }

 private:
  int descriptor_;
  std::string number_;
};

std::string quoted(const std::vector<std::string>& words) {
  std::string command = test::shell_quoted(PROCA_PROGRAM);
  for (const auto& word : words) command += " " + test::shell_quoted(word);
  return command;
}

struct RankCommands {
  std::string first = {};  ///< put in front of the command line of rank 0
  std::string meanwhile =
      "true";                 ///< run once all have started; $1 is rank 0's process, $2 rank 1's
  std::string last_has = {};  ///< put behind the command line of the last rank
};

// The exit code is that of the last rank that failed.
ProgramResult run_ranks(int size, const std::vector<std::string>& words,
                        const RankCommands& commands = {}) {
  const Port port;
  std::string command = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port.number() +
                        " WORLD_SIZE=" + std::to_string(size) +
                        " LOCAL_WORLD_SIZE=" + std::to_string(size) + "; ";
  for (int rank = 0; rank < size; ++rank) {
    const auto number = std::to_string(rank);
    command += "RANK=" + number + " LOCAL_RANK=" + number + " " +
               (rank == 0 ? commands.first : "") + " " + quoted(words) + " " +
               (rank == size - 1 ? commands.last_has : "") +
               " >> \"$out\" 2>> \"$err\" < /dev/null & ids=\"$ids $!\"; ";
  }
  command += "set -- $ids; " + commands.meanwhile +
             "; code=0; for id in $ids; do wait $id || code=$?; done; exit $code";
  return test::run_shell(command);
}

void expect_near(const fs::path& expected, const fs::path& actual) {
  const auto a = models::read_weight_file(expected), b = models::read_weight_file(actual);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    const auto values = tensor.to(torch::kFloat64);
    const auto difference = (values - b.tensors.at(name).to(torch::kFloat64)).abs();
    const auto relative = difference / values.abs().clamp_min(1);
    EXPECT_LT(relative.max().item<double>(), 1e-5) << actual << ": " << name;
  }
}

class RanksTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new test::TemporaryFolder();
    test::write_bars(*shared_ / "source", 12);
    for (int64_t label = 0; label < 3; ++label) {
      for (int64_t i = 0; i < 9; ++i) {
        auto image = test::bar_image(label, 100 + i);
        for (auto& value : image.pixels) value = static_cast<uint8_t>(230 - value / 2);
        const auto name = std::to_string(i) + ".png";
        test::write_png(*shared_ / "target" / kClasses.at(static_cast<size_t>(label)) / name,
                        image);
        if (label != 1)
          test::write_png(*shared_ / "day" / (kClasses.at(static_cast<size_t>(label)) + name),
                          image);
      }
    }
    write_file(*shared_ / "own.toml",
               "summary = \"bars\"\nclasses-per-step = 1\nsteps = 3\n"
               "class-order = [\"frame\", \"level\", \"upright\"]\n"
               "[pretrain]\nbackbone = \"resnet-small\"\nimage-size = 16\nepochs = 2\nlr = "
               "0.00001\nhead-lr = 0.00001\n"
               "[adapt]\nepochs = 3\nbatch-size = 8\nlr = 0.00001\n[method]\nprototypes = 2\n");
    test::run_well(pretrain("alone"));
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string path(const std::string& name) { return (*shared_ / name).string(); }

  // At a low rate: where a value lies at a rectifier's edge, rounding decides about a whole
  // gradient.
  static std::vector<std::string> pretrain(const std::string& out) {
    return {"pretrain",
            "--source",
            path("source"),
            "--out",
            path(out),
            "--backbone",
            "resnet-small",
            "--image-size",
            "16",
            "--epochs",
            "3",
            "--batch-size",
            "8",
            "--lr",
            "0.00001",
            "--head-lr",
            "0.00001",
            "--threads",
            "1"};
  }
  static std::vector<std::string> adapt(const std::string& state) {
    return {"adapt",     "--method",     "proca", "--state",   path(state), "--target",
            path("day"), "--epochs",     "3",     "--lr",      "0.00001",   "--batch-size",
            "8",         "--prototypes", "2",     "--threads", "1",         "--rank-timeout",
            "600"};
  }
  static void copy(const std::string& from, const std::string& to) {
    fs::copy(path(from), path(to), fs::copy_options::recursive);
  }

  static inline const std::vector<std::string> kClasses = {"upright", "level", "frame"};
  static inline test::TemporaryFolder* shared_ = nullptr;
};

TEST_F(RanksTest, SourceTrainingIsThatOfOne) {
  for (const int size : {2, 4}) {
    const auto out = "pretrain-" + std::to_string(size);
    const auto result = run_ranks(size, pretrain(out));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.err.find(std::to_string(size) + " ranks train together"), std::string::npos);
    // Rank 0 alone speaks.
    EXPECT_EQ(result.out.find("source model"), result.out.rfind("source model")) << result.out;
    expect_near(path("alone") + "/model.safetensors", path(out) + "/model.safetensors");
  }
}

TEST_F(RanksTest, AStepIsThatOfOne) {
  copy("alone", "step-1");
  test::run_well(adapt("step-1"));
  for (const int size : {2, 4}) {
    const auto state = "step-of-" + std::to_string(size);
    copy("alone", state);
    const auto result = run_ranks(size, adapt(state));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    expect_near(path("step-1") + "/model.safetensors", path(state) + "/model.safetensors");
    // The same labels to the letter, kept images to the pixel.
    const auto labels = [&](const std::string& name) {
      std::istringstream lines(read_text_file(path(name) + "/steps/01/pseudo_labels.csv"));
      std::string all;
      for (std::string line; std::getline(lines, line);) {
        all += line.substr(0, line.find(',', line.find(',') + 1)) + "\n";  // path and label
      }
      return all;
    };
    EXPECT_EQ(labels("step-1"), labels(state));
    const auto kept = [&](const std::string& name) {
      const auto memory = models::read_weight_file(path(name) + "/memory.safetensors").tensors;
      for (const auto& [key, tensor] : memory) {
        if (tensor.scalar_type() == torch::kUInt8) return tensor;
      }
      return torch::Tensor();
    };
    EXPECT_TRUE(torch::equal(kept("step-1"), kept(state)));
  }
}

// Whatever the losses are: every rank computes them of the whole batch.
TEST_F(RanksTest, EveryMethodsStepIsThatOfOne) {
  std::istringstream lines(test::run_well({"methods"}).out);
  int num_methods = 0;
  for (std::string line; std::getline(lines, line); ++num_methods) {
    const auto method = line.substr(0, line.find(' '));
    const auto words = [&](const std::string& state) {
      std::vector<std::string> words = {"adapt",     "--state",      path(state), "--target",
                                        path("day"), "--method",     method,      "--epochs",
                                        "2",         "--batch-size", "8",         "--lr",
                                        "0.00001",   "--threads",    "1"};
      if (methods::find_method(method).recipe.iterations > 0) {
        words.insert(words.end(), {"--iterations", "4"});
      }
      // Adam's first steps are as long as its rate, whatever the gradient: of one that is nearly
      // zero, rounding decides the sign.
      if (method == "cida") {
        words.insert(words.end(),
                     {"--source-epochs", "1", "--warm-up-epochs", "1", "--adam-lr", "0.000001"});
      }
      return words;
    };
    copy("alone", method + "-alone");
    copy("alone", method + "-of-2");
    test::run_well(words(method + "-alone"));
    const auto result = run_ranks(2, words(method + "-of-2"));
    EXPECT_EQ(result.exit_code, 0) << method << ": " << result.err;
    expect_near(path(method + "-alone") + "/model.safetensors",
                path(method + "-of-2") + "/model.safetensors");
  }
  EXPECT_GE(num_methods, 7);
}

TEST_F(RanksTest, AProtocolIsThatOfOne) {
  const auto run = [&](const std::string& out) -> std::vector<std::string> {
    return {"run",    "--preset",    path("own.toml"), "--data-root",    path("."),    "--source",
            "source", "--target",    "target",         "--out",          path(out),    "--threads",
            "1",      "--no-report", "--json",         "--source-state", path("alone")};
  };
  const auto alone = test::run_well(run("run-1"));
  const auto result = run_ranks(2, run("run-2"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto accuracy = [](const std::string& text) {
    return nlohmann::json::parse(text).at("seeds").at(0).at("metrics").at("final_accuracy_percent");
  };
  EXPECT_EQ(accuracy(alone.out), accuracy(result.out));
  expect_near(path("run-1") + "/seed-0/model.safetensors",
              path("run-2") + "/seed-0/model.safetensors");
}

// Rank 0 stands still where a checkpoint becomes valid, until something has happened to rank 1.
RankCommands at_checkpoint(const std::string& state, const std::string& action) {
  return {.first = test::fault_at(
              {.below = state, .call = "rename", .file = "/state.json", .number = 2}, "stop"),
          .meanwhile =
              "while kill -0 $1 2>/dev/null && ! grep -q '^State:.T' /proc/$1/status; "
              "do sleep 0.02; done; " +
              action + "; kill -CONT $1"};
}

TEST_F(RanksTest, ARankThatDiesEndsTheJobWhichGoesOnWithAnotherNumberOfThem) {
  auto words = pretrain("dying");
  words.insert(words.end(), {"--checkpoint-every", "0", "--rank-timeout", "600"});
  const auto died = run_ranks(2, words, at_checkpoint(path("dying"), "kill -KILL $2"));
  EXPECT_NE(died.exit_code, 0);
  EXPECT_NE(died.err.find("rank 0 of 2: another rank has ended or has not answered for 600 s"),
            std::string::npos)
      << died.err;
  EXPECT_EQ(died.err.find("terminate"), std::string::npos) << died.err;
  const auto again = run_ranks(4, words);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("goes on after epoch"), std::string::npos) << again.err;
  expect_near(path("alone") + "/model.safetensors", path("dying") + "/model.safetensors");
}

TEST_F(RanksTest, ARequestToStopStopsAllAtTheSamePlace) {
  copy("alone", "stopped");
  auto words = adapt("stopped");
  words.insert(words.end(), {"--checkpoint-every", "0"});
  // Rank 1 alone is asked.
  const auto stopped = run_ranks(2, words, at_checkpoint(path("stopped"), "kill -INT $2"));
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("stopped and saved"), std::string::npos) << stopped.err;
  // One alone takes it to the end.
  test::run_well(words);
  copy("alone", "not-stopped");
  test::run_well(adapt("not-stopped"));
  expect_near(path("not-stopped") + "/model.safetensors", path("stopped") + "/model.safetensors");
}

TEST_F(RanksTest, OneThatNeverComesIsNotWaitedForForEver) {
  auto words = pretrain("lonely");
  words.insert(words.end(), {"--rank-timeout", "2"});
  const Port port;
  const auto result = test::run_proca(
      words, "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port.number());
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find("the ranks did not find each other"), std::string::npos) << result.err;
  EXPECT_FALSE(fs::exists(path("lonely")));
}

// Something else has the port: it takes connections and says nothing.
TEST_F(RanksTest, APortThatKeepsSilentIsNotWaitedForForEver) {
  const Port port;
  ASSERT_EQ(port.listen(), 0);
  auto words = pretrain("silent");
  words.insert(words.end(), {"--rank-timeout", "2"});
  for (const std::string rank : {"0", "1"}) {
    const auto result = test::run_proca(
        words, "RANK=" + rank + " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port.number());
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.err.find("the ranks did not find each other at 127.0.0.1:" + port.number()),
              std::string::npos)
        << result.err;
    EXPECT_EQ(result.err.find("terminate"), std::string::npos) << result.err;
  }
}

TEST_F(RanksTest, ARequestToStopIsObeyedWhileOthersAreWaitedFor) {
  const Port port;
  auto words = pretrain("waiting");
  words.insert(words.end(), {"--rank-timeout", "600"});
  // Once rank 0 takes connections it waits for the other.
  const auto waits = "bash -c 'exec 3<> /dev/tcp/127.0.0.1/" + port.number() + "' 2> /dev/null";
  const auto result = test::run_proca_until(
      words, waits, "INT",
      "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port.number());
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_NE(result.err.find("stopped while waiting for the other ranks"), std::string::npos)
      << result.err;
}

TEST_F(RanksTest, OptionsThatDifferAreNamed) {
  auto words = pretrain("differing");
  words.insert(words.end(), {"--rank-timeout", "600"});
  const auto result = run_ranks(2, words, {.last_has = "--label-smoothing 0.5"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_NE(result.err.find("rank 1 of 2: was given other options than rank 0: "
                            "--label-smoothing 0.0 there, --label-smoothing 0.5 here"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("rank 0 of 2: 1 of the ranks were given other options"),
            std::string::npos)
      << result.err;
  EXPECT_FALSE(fs::exists(path("differing")));
  // What decides nothing may differ.
  const auto other = run_ranks(2, words, {.last_has = "--checkpoint-every 5"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
}

TEST_F(RanksTest, AUsersMistakeIsSaidAndEndsAllRanks) {
  auto words = pretrain("mistaken");
  words[2] = path("no-such-folder");
  const auto result = run_ranks(2, words);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("no-such-folder"), std::string::npos) << result.err;
  const auto variable = test::run_proca(pretrain("mistaken"), "RANK=x WORLD_SIZE=2");
  EXPECT_EQ(variable.exit_code, 2);
  EXPECT_NE(variable.err.find("environment variable RANK"), std::string::npos) << variable.err;
}

// PyTorch's launcher, where Debian's Python has it: its own process keeps the store. (Its way
// to leave output alone, without -r and -t, is broken with newer Pythons.)
TEST_F(RanksTest, StartedByTorchrun) {
  const std::string python = "/usr/bin/python3";
  if (test::run_shell(python + " -c 'import torch.distributed.run' > \"$out\" 2> \"$err\"")
          .exit_code != 0) {
    GTEST_SKIP() << "there is no torchrun";
  }
  const Port port;
  const auto result = test::run_shell(
      python + " -m torch.distributed.run --no_python --nproc_per_node=2 -r 1 -t 1 --master_port=" +
      port.number() + " " + quoted(pretrain("torchrun")) + " > \"$out\" 2> \"$err\" < /dev/null");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("2 ranks train together"), std::string::npos) << result.err;
  expect_near(path("alone") + "/model.safetensors", path("torchrun") + "/model.safetensors");
}

}  // namespace
}  // namespace proca

#include "distributed/launch.h"

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace proca::distributed {
namespace {

using Variables = std::map<std::string, std::string>;

// Sets environment variables until it goes out of scope.
struct ScopedVariables {
  explicit ScopedVariables(const Variables& values) : variables(values) {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~ScopedVariables() {
    for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  }
  Variables variables;
};

std::optional<Launch> launch_of(const Variables& variables) {
  const ScopedVariables scoped(variables);
  return find_launch();
}

std::string refusal(const Variables& variables) {
  return test::message_of<InputError>([&] { launch_of(variables); });
}

TEST(Launch, AloneWithoutALauncher) {
  EXPECT_FALSE(launch_of({}));
  EXPECT_FALSE(launch_of({{"WORLD_SIZE", ""}, {"RANK", ""}}));
  EXPECT_FALSE(launch_of({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}));
}

TEST(Launch, Torchrun) {
  const auto launch = launch_of({{"RANK", "5"},
                                 {"WORLD_SIZE", "8"},
                                 {"LOCAL_RANK", "1"},
                                 {"LOCAL_WORLD_SIZE", "4"},
                                 {"MASTER_ADDR", "first.example"},
                                 {"MASTER_PORT", "1234"},
                                 {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                 {"TORCHELASTIC_RESTART_COUNT", "2"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 5);
  EXPECT_EQ(launch->size, 8);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_EQ(launch->local_size, 4);
  EXPECT_EQ(launch->address, "first.example");
  EXPECT_EQ(launch->port, 1234);
  EXPECT_TRUE(launch->has_agent);
  EXPECT_EQ(launch->restart, 2);
}

TEST(Launch, OneRankByHandIsAGroup) {
  const auto launch = launch_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->address, "127.0.0.1");
  EXPECT_FALSE(launch->has_agent);
}

TEST(Launch, MpirunOnOneMachineNeedsNoAddress) {
  const auto launch = launch_of({{"OMPI_COMM_WORLD_RANK", "3"},
                                 {"OMPI_COMM_WORLD_SIZE", "4"},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 3);
  EXPECT_EQ(launch->address, "127.0.0.1");
  EXPECT_EQ(launch->port, 29500);
  EXPECT_FALSE(launch_of({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
}

TEST(Launch, MpichOnSeveralMachines) {
  const auto launch = launch_of({{"PMI_RANK", "1"},
                                 {"PMI_SIZE", "2"},
                                 {"MPI_LOCALNRANKS", "1"},
                                 {"MPI_LOCALRANKID", "0"},
                                 {"MASTER_ADDR", "10.0.0.1"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 1);
  EXPECT_EQ(launch->address, "10.0.0.1");
}

TEST(Launch, SlurmFindsTheFirstNode) {
  Variables variables = {{"SLURM_PROCID", "6"},       {"SLURM_STEP_NUM_TASKS", "8"},
                         {"SLURM_LOCALID", "2"},      {"SLURM_STEP_NUM_NODES", "2"},
                         {"SLURM_JOB_ID", "1234567"}, {"SLURM_STEP_NODELIST", "gpu[03-04]"}};
  auto launch = launch_of(variables);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 6);
  EXPECT_EQ(launch->local_rank, 2);
  EXPECT_EQ(launch->local_size, 4);
  EXPECT_EQ(launch->address, "gpu03");
  EXPECT_EQ(launch->port, 20000 + 1234567 % 20000);
  const std::map<std::string, std::string> first = {{"a1,b2", "a1"},
                                                    {"node[9,11-12]", "node9"},
                                                    {"solo", "solo"},
                                                    {"login,gpu[1-2]", "login"},
                                                    {"r[1-2]n[3-4]", "r1"}};
  for (const auto& [list, host] : first) {
    variables["SLURM_STEP_NODELIST"] = list;
    EXPECT_EQ(launch_of(variables)->address, host) << list;
  }
}

// A batch script has these too, and is one process.
TEST(Launch, ASlurmScriptByItselfIsAlone) {
  EXPECT_FALSE(launch_of({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "1"}}));
  EXPECT_FALSE(launch_of({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}));
}

TEST(Launch, WhatMakesNoSenseIsRefusedByName) {
  const Variables good = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  const auto with = [&](const std::string& name, const std::string& value) {
    auto variables = good;
    variables[name] = value;
    return refusal(variables);
  };
  EXPECT_EQ(with("WORLD_SIZE", "two"),
            "environment variable WORLD_SIZE: \"two\" is not a number from 1 to 1048576");
  EXPECT_EQ(with("WORLD_SIZE", "0"),
            "environment variable WORLD_SIZE: \"0\" is not a number from 1 to 1048576");
  EXPECT_EQ(with("RANK", "2"), "environment variable RANK: \"2\" is not a number from 0 to 1");
  EXPECT_EQ(with("RANK", "-1"), "environment variable RANK: \"-1\" is not a number from 0 to 1");
  EXPECT_EQ(with("RANK", "1x"), "environment variable RANK: \"1x\" is not a number from 0 to 1");
  EXPECT_EQ(with("MASTER_PORT", "99999"),
            "environment variable MASTER_PORT: \"99999\" is not a number from 1 to 65535");
  EXPECT_EQ(with("RANK", ""), "environment variable RANK: is not set, but WORLD_SIZE is");
  EXPECT_EQ(with("WORLD_SIZE", ""), "environment variable WORLD_SIZE: is not set, but RANK is");
  EXPECT_EQ(with("MASTER_ADDR", ""),
            "environment variable MASTER_ADDR: is not set; give all ranks the name or address of "
            "the machine of rank 0");
}

TEST(Launch, MpirunOnSeveralMachinesNeedsAnAddress) {
  EXPECT_NE(refusal({{"OMPI_COMM_WORLD_RANK", "0"},
                     {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})
                .find("MASTER_ADDR"),
            std::string::npos);
}

}  // namespace
}  // namespace proca::distributed

#include "experiments/job_pool.h"

#include <algorithm>
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca::experiments {
namespace {

using test::message_of;

class JobPoolTest : public ::testing::Test {
 protected:
  Job shell(const std::string& script) {
    const auto label = "job " + std::to_string(num_jobs_++);
    return {label, {"/bin/sh", "-c", script, "sh"}, folder_ / "logs" / (label + ".txt")};
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string text(const std::string& name) const { return read_text_file(folder_ / name); }

  test::TemporaryFolder folder_;
  int64_t num_jobs_ = 0;
};

std::vector<JobSlot> slots(int64_t count) {
  return std::vector<JobSlot>(static_cast<size_t>(count));
}

TEST_F(JobPoolTest, EveryJobHasItsExitCodeAndItsLog) {
  const std::vector<Job> jobs = {shell("echo out; echo err >&2"), shell("cat; echo end of input")};
  int64_t num_ended = 0;
  const auto ends = run_jobs(jobs, slots(2), {.on_end = [&](const JobEnd&) { ++num_ended; }});
  ASSERT_EQ(ends.size(), 2u);
  for (const auto& end : ends) {
    EXPECT_EQ(end.value().exit_code, 0);
    EXPECT_GE(end.value().seconds, 0);
  }
  EXPECT_EQ(ends[1]->job, 1);
  EXPECT_EQ(num_ended, 2);
  EXPECT_EQ(text("logs/job 0.txt"), "out\nerr\n");
  EXPECT_EQ(text("logs/job 1.txt"), "end of input\n");  // Nothing to read, no waiting for it.
}

TEST_F(JobPoolTest, NoJobsAreDoneAtOnce) { EXPECT_TRUE(run_jobs({}, slots(2)).empty()); }

TEST_F(JobPoolTest, WithoutASlotNothingCanRun) {
  const std::vector<Job> jobs = {shell("true")};
  EXPECT_THROW(run_jobs(jobs, {}), std::invalid_argument);
}

// Each job leaves a mark as long as it runs, which is until it may leave; one may as soon as two
// are there.
TEST_F(JobPoolTest, AtMostAsManyRunAtOnceAsThereAreSlots) {
  constexpr int64_t kJobs = 6;
  std::filesystem::create_directory(folder_ / "marks");
  std::vector<Job> jobs;
  for (int64_t i = 0; i < kJobs; ++i) {
    const auto mark = path("marks/") + std::to_string(i),
               leave = path("leave-") + std::to_string(i);
    jobs.push_back(
        shell("touch " + mark + "; until test -e " + leave + "; do sleep 0.01; done; rm " + mark));
  }
  int64_t most = 0, num_ended = 0;
  const auto let_one_leave = [&] {
    std::vector<std::filesystem::path> waiting;
    int64_t running = 0;
    for (const auto& mark : std::filesystem::directory_iterator(folder_ / "marks")) {
      ++running;
      const auto leave = folder_ / ("leave-" + mark.path().filename().string());
      if (!std::filesystem::exists(leave)) waiting.push_back(leave);
    }
    most = std::max(most, running);
    if (!waiting.empty() && (running > 1 || num_ended == kJobs - 1)) write_file(waiting[0], "");
  };
  const auto ends = run_jobs(
      jobs, slots(2),
      {.on_end = [&](const JobEnd&) { ++num_ended; }, .on_wait = [&] { let_one_leave(); }});
  for (const auto& end : ends) EXPECT_EQ(end.value().exit_code, 0);
  EXPECT_EQ(most, 2);
}

TEST_F(JobPoolTest, ASlotAddsArguments) {
  const std::vector<Job> jobs = {shell("echo $1")};
  const std::vector<JobSlot> one = {{.arguments = {"cuda:3"}}};
  run_jobs(jobs, one);
  EXPECT_EQ(text("logs/job 0.txt"), "cuda:3\n");
}

// The first job outlasts the second, which is there until somebody has asked how it ended.
TEST_F(JobPoolTest, AfterAFailureThoseRunningFinishAndNoneIsStarted) {
  const auto failed = path("failed");
  const std::vector<Job> jobs = {
      shell("until test -e " + failed + "; do sleep 0.01; done; while kill -0 $(cat " + failed +
            ") 2>/dev/null; do sleep 0.01; done; echo done"),
      shell("echo $$ > " + failed + ".new; mv " + failed + ".new " + failed +
            "; echo what went wrong; exit 2"),
      shell("touch " + path("third"))};
  const auto ends = run_jobs(jobs, slots(2));
  EXPECT_EQ(ends[0].value().exit_code, 0);
  EXPECT_EQ(ends[1].value().exit_code, 2);
  EXPECT_FALSE(ends[2].has_value());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "third"));
  EXPECT_EQ(text("logs/job 0.txt"), "done\n");
  EXPECT_EQ(last_line(jobs[1].log), "what went wrong");
}

TEST_F(JobPoolTest, ASignalCountsAsAFailure) {
  const std::vector<Job> jobs = {shell("kill -KILL $$")};
  EXPECT_EQ(run_jobs(jobs, slots(1))[0].value().exit_code, 128 + SIGKILL);
}

TEST_F(JobPoolTest, AProgramThatIsNotThereIsAFailure) {
  const std::vector<Job> jobs = {{"none", {path("none")}, folder_ / "log"}};
  EXPECT_EQ(run_jobs(jobs, slots(1))[0].value().exit_code, 127);
  EXPECT_EQ(last_line(folder_ / "log"), "error: " + path("none") + " cannot be started");
}

TEST_F(JobPoolTest, ALogThatCannotBeWrittenIsNamed) {
  write_file(folder_ / "logs", "a file");
  const std::vector<Job> jobs = {shell("true")};
  EXPECT_NE(message_of([&] { run_jobs(jobs, slots(1)); }).find(path("logs")), std::string::npos);
}

// In a process of its own: being interrupted cannot be taken back.
int run_in_child(const std::vector<Job>& jobs, int signal, const std::string& ready) {
  const pid_t child = fork();
  if (child == 0) {
    catch_interrupts();
    int code = 1;
    try {
      run_jobs(jobs, slots(2));
    } catch (const Interrupted&) {
      code = 42;
    }
    _exit(code);
  }
  while (!std::filesystem::exists(ready)) usleep(10'000);
  kill(child, signal);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(JobPoolTest, CtrlCIsPassedOnAndWaitedFor) {
  const std::vector<Job> jobs = {
      shell("trap 'sleep 0.1; touch " + path("saved") + "; exit 130' INT; touch " + path("ready") +
            "; while true; do sleep 0.05; done"),
      shell("sleep 100"), shell("touch " + path("third"))};
  EXPECT_EQ(run_in_child(jobs, SIGINT, path("ready")), 42);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "saved"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "third"));
}

TEST_F(JobPoolTest, JobsDieWithTheirParent) {
  const auto id = path("id");
  const std::vector<Job> jobs = {
      shell("echo $$ > " + id + ".new; mv " + id + ".new " + id + "; exec sleep 1000")};
  EXPECT_EQ(run_in_child(jobs, SIGKILL, id), -SIGKILL);
  const auto job = static_cast<pid_t>(std::stol(text("id")));
  // A process that nobody has collected yet is gone as well: its state is Z.
  const auto is_alive = [&] {
    if (kill(job, 0) != 0) return false;
    std::ifstream stream("/proc/" + std::to_string(job) + "/stat");
    std::string state;
    if (!std::getline(stream, state)) return false;
    return state.substr(state.rfind(')') + 2, 1) != "Z";
  };
  for (int i = 0; i < 6000 && is_alive(); ++i) usleep(10'000);  // Ends only what hangs.
  EXPECT_FALSE(is_alive());
}

TEST(LastLineTest, IsTheLastThatIsNotBlank) {
  const test::TemporaryFolder folder;
  const auto log = folder / "log";
  struct Case {
    std::string text;
    std::string line;
  };
  for (const auto& [text, line] : std::vector<Case>{{"", ""},
                                                    {"\n \n", ""},
                                                    {"one", "one"},
                                                    {"one\ntwo words\n\n", "two words"},
                                                    {"10 %\r20 %\r\nend\r\n", "end"},
                                                    {"10 %\r20 %", "20 %"}}) {
    write_file(log, text);
    EXPECT_EQ(last_line(log), line) << text;
  }
  EXPECT_EQ(last_line(folder / "none"), "");
}

}  // namespace
}  // namespace proca::experiments

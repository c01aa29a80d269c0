#include "experiments/job_pool.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files/open_file.h"
#include "core/stopwatch.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"

namespace proca::experiments {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);
constexpr int kCannotStart = 127;

// Starts a process that writes to `log`. Between fork and exec a program with threads must not
// allocate, so everything is prepared before the fork.
pid_t start_process(std::vector<std::string> words, int log) {
  const auto failure = fmt::format("error: {} cannot be started\n", words.front());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  // A group of its own: the terminal sends Ctrl-C to all of a group, and this program passes it on.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotStart);  // It died before the line above.
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv(arguments[0], arguments.data());
  [[maybe_unused]] const auto written = write(log, failure.data(), failure.size());
  _exit(kCannotStart);
}

int open_log(const std::filesystem::path& path) {
  if (path.has_parent_path()) create_writable_folder(path.parent_path());
  const int log = open_for_writing(path, Creation::kKeep);
  if (ftruncate(log, 0) == 0) return log;
  const std::string why = std::strerror(errno);
  close(log);
  throw Error(fmt::format("{}: writing failed: {}", path.string(), why));
}

struct Running {
  int64_t job = 0;
  pid_t process = 0;
  Stopwatch watch = {};
};

class Pool {
 public:
  Pool(std::span<const Job> jobs, std::span<const JobSlot> slots, const JobListener& listener)
      : jobs_(jobs),
        slots_(slots),
        listener_(listener),
        running_(slots.size()),
        ends_(jobs.size()) {}

  // No job outlives an exception.
  ~Pool() {
    send(SIGKILL);
    for (auto& slot : running_) {
      if (slot) waitpid(slot->process, nullptr, 0);
    }
  }

  std::vector<std::optional<JobEnd>> run() {
    while (start_next() || num_running() > 0) {
      collect();
      if (!interrupted_ && stop_was_asked_for()) {
        interrupted_ = stopping_ = true;
        send(SIGINT);
        wait_for_processes_to_stop();
      }
      if (listener_.on_wait) listener_.on_wait();
      std::this_thread::sleep_for(kPollInterval);
    }
    throw_if_interrupted("stopped; rerun the same command to resume");
    return std::move(ends_);
  }

 private:
  int64_t num_running() const {
    return std::count_if(running_.begin(), running_.end(),
                         [](const auto& slot) { return slot.has_value(); });
  }

  static bool stop_was_asked_for() {
    try {
      throw_if_interrupted("");
    } catch (const Interrupted&) {
      return true;  // Thrown once the jobs have ended.
    }
    return false;
  }

  void send(int signal) const {
    for (const auto& slot : running_) {
      if (slot) kill(-slot->process, signal);  // and to what it has started itself
    }
  }

  // Fills the free slots; false if nothing is left to start.
  bool start_next() {
    for (size_t slot = 0; slot < running_.size(); ++slot) {
      if (stopping_ || next_ == jobs_.size()) return false;
      if (!running_[slot]) start(slot);
    }
    return next_ < jobs_.size();
  }

  void start(size_t slot) {
    const auto& job = jobs_[next_];
    auto words = job.command;
    words.insert(words.end(), slots_[slot].arguments.begin(), slots_[slot].arguments.end());
    const int log = open_log(job.log);
    const pid_t process = start_process(std::move(words), log);
    const int reason = errno;
    close(log);
    if (process < 0) {
      throw Error(fmt::format("{}: cannot be started: {}", job.label, std::strerror(reason)));
    }
    setpgid(process, process);  // Parent and child both do it: either may run first.
    running_[slot] = {.job = static_cast<int64_t>(next_), .process = process};
    ++next_;
  }

  // Waits for each process by its id: this program may have other children.
  void collect() {
    for (auto& slot : running_) {
      int status = 0;
      if (!slot) continue;
      const pid_t ended = waitpid(slot->process, &status, WNOHANG);
      if (ended == -1 && errno != EINTR) {
        throw Error(fmt::format("{}: cannot be waited for: {}",
                                jobs_[static_cast<size_t>(slot->job)].label, std::strerror(errno)));
      }
      if (ended != slot->process) continue;
      const JobEnd end{
          .job = slot->job,
          .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .seconds = slot->watch.seconds()};
      slot.reset();
      ends_[static_cast<size_t>(end.job)] = end;
      if (end.exit_code != 0) stopping_ = true;
      if (listener_.on_end) listener_.on_end(end);
    }
  }

  std::span<const Job> jobs_;
  std::span<const JobSlot> slots_;
  const JobListener& listener_;
  std::vector<std::optional<Running>> running_;
  std::vector<std::optional<JobEnd>> ends_;
  size_t next_ = 0;
  bool stopping_ = false;     // No further job is started.
  bool interrupted_ = false;  // The running jobs have been sent SIGINT.
};

}  // namespace

std::vector<std::optional<JobEnd>> run_jobs(std::span<const Job> jobs,
                                            std::span<const JobSlot> slots,
                                            const JobListener& listener) {
  if (slots.empty()) throw std::invalid_argument("run_jobs: there is no slot to run a job in");
  return Pool(jobs, slots, listener).run();
}

std::string last_line(const std::filesystem::path& log) {
  std::error_code missing;
  if (!std::filesystem::exists(log, missing)) return "";
  const auto text = read_text_file(log);
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const auto begin = text.find_last_of("\r\n", end) + 1;  // npos + 1 is 0
  return text.substr(begin, end + 1 - begin);
}

}  // namespace proca::experiments

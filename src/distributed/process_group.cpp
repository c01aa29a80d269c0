#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "compute/failure_text.h"
#include "distributed/c10d_ranks.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"

namespace proca::distributed {
namespace {

class C10dRanks final : public compute::Ranks {
 public:
  C10dRanks(const Launch& launch, c10::intrusive_ptr<C10dGroup> group, c10::Device device,
            std::chrono::seconds timeout)
      : launch_(launch), group_(std::move(group)), device_(device), timeout_(timeout) {}

  int64_t rank() const override { return launch_.rank; }
  int64_t size() const override { return launch_.size; }

  std::unique_ptr<Pending> begin_sum(const torch::Tensor& values) override {
    return start([&](std::vector<at::Tensor>& tensors) { return group_->allreduce(tensors); },
                 values);
  }

  void broadcast(const torch::Tensor& values) override {
    start([&](std::vector<at::Tensor>& tensors) { return group_->broadcast(tensors); }, values)
        ->wait();
  }

 private:
  // Calls LibTorch; errors get a message that says what the user can do.
  template <typename Call>
  auto guarded(Call call) const {
    try {
      return call();
    } catch (const std::exception& error) {
      throw Error(fmt::format(
          "rank {} of {}: another rank has ended or has not answered for {} s ({}); the last "
          "checkpoint is kept, run the same command again to resume",
          launch_.rank, launch_.size, timeout_.count(), compute::failure_text(error)));
    }
  }

  using WorkPointer =
      decltype(std::declval<C10dGroup>().allreduce(std::declval<std::vector<at::Tensor>&>()));

  class Running final : public Pending {
   public:
    Running(const C10dRanks& ranks, WorkPointer work, torch::Tensor values, torch::Tensor sent)
        : ranks_(ranks),
          work_(std::move(work)),
          values_(std::move(values)),
          sent_(std::move(sent)) {}
    void wait() override {
      ranks_.guarded([&] { return work_->wait(); });
      if (!sent_.is_same(values_)) values_.copy_(sent_);
    }

   private:
    const C10dRanks& ranks_;
    WorkPointer work_;
    torch::Tensor values_, sent_;  // kept until it is done
  };

  // NCCL exchanges tensors on its GPU only.
  template <typename Begin>
  std::unique_ptr<Pending> start(Begin begin, const torch::Tensor& values) {
    TORCH_CHECK(values.is_contiguous(), "ranks exchange dense tensors only");
    const auto sent = values.device().type() == device_.type() ? values : values.to(device_);
    std::vector<at::Tensor> tensors = {sent};
    auto work = guarded([&] { return begin(tensors); });
    return std::make_unique<Running>(*this, std::move(work), values, sent);
  }

  Launch launch_;
  c10::intrusive_ptr<C10dGroup> group_;
  c10::Device device_;
  std::chrono::seconds timeout_;
};

c10::intrusive_ptr<c10d::Store> meet(const Launch& launch, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(launch.port);
  options.isServer = launch.rank == 0 && !launch.has_agent;
  if (!launch.has_agent) options.numWorkers = static_cast<size_t>(launch.size);
  options.waitWorkers = !launch.has_agent;
  options.timeout = timeout;
  // Keys of an earlier attempt of the same launcher must not be read as ours.
  return c10::make_intrusive<c10d::PrefixStore>(
      fmt::format("proca/{}", launch.restart),
      c10::make_intrusive<c10d::TCPStore>(launch.address, options));
}

// Meets the other ranks: on a GPU through NCCL, on a CPU through Gloo.
std::shared_ptr<compute::Ranks> join(const Launch& launch, c10::Device device,
                                     std::chrono::seconds timeout) {
  try {
    const auto store = meet(launch, timeout);
    auto group = device.is_cuda() ? make_nccl_group(store, launch, timeout)
                                  : make_gloo_group(store, launch, timeout);
    if (!group) {
      throw InputError(fmt::format(
          "this build cannot train with several ranks on {}: {} was not there when it was built",
          device.is_cuda() ? "GPUs" : "CPUs", device.is_cuda() ? "NCCL" : "Gloo (libgloo-dev)"));
    }
    return std::make_shared<C10dRanks>(launch, std::move(group), device, timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // c10::Error, a socket's, std::system_error
    throw Error(fmt::format("rank {} of {}: the ranks did not find each other at {}:{} in {} s: {}",
                            launch.rank, launch.size, launch.address, launch.port, timeout.count(),
                            compute::failure_text(error)));
  }
}

// LibTorch waits for the others without asking whether we were told to stop, and without an end
// where MASTER_PORT belongs to another program that keeps silent. So a thread of its own waits; if
// nobody comes it is left behind, as the process ends then.
std::shared_ptr<compute::Ranks> join_in_time(const Launch& launch, c10::Device device,
                                             std::chrono::seconds timeout) {
  constexpr auto kPollInterval = std::chrono::milliseconds(20);
  const auto joined = std::make_shared<std::promise<std::shared_ptr<compute::Ranks>>>();
  auto ranks = joined->get_future();
  std::thread([=] {
    try {
      joined->set_value(join(launch, device, timeout));
    } catch (...) {
      joined->set_exception(std::current_exception());
    }
  }).detach();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (ranks.wait_for(kPollInterval) != std::future_status::ready) {
    throw_if_interrupted("stopped while waiting for the other ranks");
    if (std::chrono::steady_clock::now() < deadline) continue;
    throw Error(
        fmt::format("rank {} of {}: the ranks did not find each other at {}:{} in {} s: not all "
                    "have come, or the port belongs to another program",
                    launch.rank, launch.size, launch.address, launch.port, timeout.count()));
  }
  return ranks.get();
}

}  // namespace

void join_ranks(compute::ComputeOptions& options) {
  const auto launch = find_launch();
  if (!launch) return;
  if (launch->rank > 0) {
    set_log_prefix(fmt::format("rank {}: ", launch->rank));
    if (log_level() < LogLevel::kWarning) set_log_level(LogLevel::kWarning);
  }
  options.local_ranks = launch->local_size;
  const bool is_free = options.device == "auto" || options.device == "cuda";
  if (is_free && compute::choose_device(options).is_cuda()) {
    options.device = fmt::format("cuda:{}", launch->local_rank);
  }
  const auto device = compute::choose_device(options);
  options.ranks = join_in_time(*launch, device, std::chrono::seconds(options.rank_timeout_s));
  stop_together();
  log_info(fmt::format("{} ranks train together on {}", launch->size,
                       device.is_cuda() ? "GPUs" : "CPUs"));
}

bool is_first(const compute::ComputeOptions& options) {
  return !options.ranks || options.ranks->rank() == 0;
}

}  // namespace proca::distributed

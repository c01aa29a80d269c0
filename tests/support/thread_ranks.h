#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <torch/types.h>

#include "proca/compute/ranks.h"

namespace proca::test {

/// Ranks that are threads of one process: what they add up meets in memory, in their order.
class ThreadRanks final : public compute::Ranks {
 public:
  struct Meeting {
    explicit Meeting(int64_t size) : values(static_cast<size_t>(size)), barrier(size) {}
    std::vector<torch::Tensor> values;
    std::barrier<> barrier;
  };

  ThreadRanks(std::shared_ptr<Meeting> meeting, int64_t rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return static_cast<int64_t>(meeting_->values.size()); }

  std::unique_ptr<Pending> begin_sum(const torch::Tensor& values) override {
    const auto all = exchange(values);
    auto sum = all.front().clone();
    for (size_t i = 1; i < all.size(); ++i) sum += all[i];
    torch::Tensor(values).copy_(sum);
    struct Done final : Pending {
      void wait() override {}
    };
    return std::make_unique<Done>();
  }

  void broadcast(const torch::Tensor& values) override {
    const auto all = exchange(values);
    torch::Tensor(values).copy_(all.front());
  }

 private:
  std::vector<torch::Tensor> exchange(const torch::Tensor& values) {
    const torch::NoGradGuard no_grad;
    meeting_->values[static_cast<size_t>(rank_)] = values.detach().clone();
    meeting_->barrier.arrive_and_wait();
    const auto all = meeting_->values;
    meeting_->barrier.arrive_and_wait();
    return all;
  }

  std::shared_ptr<Meeting> meeting_;
  int64_t rank_;
};

/// Runs `work` as `size` ranks side by side; what one throws comes out once all have ended.
/// A rank that throws while others wait for it would keep them waiting: only for work that
/// fails on all of them or on none.
inline void run_ranks(int64_t size,
                      const std::function<void(const std::shared_ptr<compute::Ranks>&)>& work) {
  const auto meeting = std::make_shared<ThreadRanks::Meeting>(size);
  std::exception_ptr failure;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          work(std::make_shared<ThreadRanks>(meeting, rank));
        } catch (...) {
          const std::lock_guard lock(mutex);
          failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace proca::test

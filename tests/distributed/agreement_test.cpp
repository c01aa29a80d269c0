#include "distributed/agreement.h"

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/message_of.h"
#include "support/thread_ranks.h"

namespace proca::distributed {
namespace {

TEST(Agreement, OfOneAlone) { EXPECT_NO_THROW(check_agreement(nullptr, "network", {})); }

TEST(Agreement, TheSameBytesPass) {
  test::run_ranks(3, [](const auto& ranks) {
    const models::NamedTensors tensors = {{"a", torch::ones({2, 3})}, {"b", torch::zeros({0})}};
    EXPECT_NO_THROW(check_agreement(ranks.get(), "network", tensors));
  });
}

TEST(Agreement, OneBitIsNoticedByAll) {
  test::run_ranks(3, [](const auto& ranks) {
    auto values = torch::ones({2, 3});
    if (ranks->rank() == 2) values[1][1] = 1.0000001F;
    const auto message = test::message_of<Error>([&] {
      check_agreement(ranks.get(), "network", {{"a", values}});
    });
    EXPECT_NE(message.find("1 of the 3 ranks have another network than rank 0"), std::string::npos)
        << message;
  });
}

TEST(Agreement, NamesCount) {
  test::run_ranks(2, [](const auto& ranks) {
    const models::NamedTensors tensors = {{ranks->rank() == 0 ? "a" : "b", torch::ones({1})}};
    EXPECT_THROW(check_agreement(ranks.get(), "memory", tensors), Error);
  });
}

}  // namespace
}  // namespace proca::distributed

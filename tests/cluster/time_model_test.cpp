// The model of time: what it says of cases that can be counted by hand, and that a fit finds the network that made the
// times.
#include "cluster/time_model.h"

#include <gtest/gtest.h>

#include <vector>

namespace lano::time_model_test {
namespace {

TEST(TimeModel, CountsMessagesAndBytes) {
  const NetworkSpeed network{1e-6, 1e9};
  // 8 ranks: a gather takes 3 rounds, a swap 7 messages.
  EXPECT_DOUBLE_EQ(exchange_seconds({2e6, 2, 1}, 8, network), 13e-6 + 2e-3);
  EXPECT_DOUBLE_EQ(exchange_seconds({2e6, 2, 1}, 1, network), 0);
  EXPECT_DOUBLE_EQ(pass_seconds(1e6, 1e-5, {}, 4, network), 2.5);
}

TEST(TimeModel, FitFindsTheNetworkThatMadeTheTimes) {
  const NetworkSpeed made{3e-6, 5e9};
  std::vector<TimedExchange> timed;
  for (const double bytes : {64.0, 4e3, 1e5, 3e6}) {
    for (const PassTraffic& traffic : {PassTraffic{bytes, 1, 0}, PassTraffic{bytes, 0, 1}})
      timed.push_back({traffic, exchange_seconds(traffic, 4, made)});
  }
  const NetworkSpeed found = fit_network(timed, 4);
  EXPECT_NEAR(found.latency / made.latency, 1, 1e-9);
  EXPECT_NEAR(found.bandwidth / made.bandwidth, 1, 1e-9);
  // Times that are off by a tenth, now more, now less, move it by little.
  for (std::size_t i = 0; i < timed.size(); ++i) timed[i].seconds *= i % 2 == 0 ? 1.1 : 0.9;
  EXPECT_NEAR(fit_network(timed, 4).latency / made.latency, 1, 0.15);
}

}  // namespace
}  // namespace lano::time_model_test

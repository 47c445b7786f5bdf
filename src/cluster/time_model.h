// A model of the time of a pass whose points are divided over several ranks, fitted to measured exchanges: computation
// that falls with the number of ranks, and what the network takes. `lano bench cluster` fits and prints it.
//
//   T(N, R) = t N/R  +  (gathers ceil(log2 R) + swaps) latency  +  bytes / bandwidth
//
// Assumes: equal ranks; all points take the same time t; exchanges wait for the slowest rank and overlap with nothing;
// a gather doubles what it has in each round, a swap sends R-1 messages one after the other; links do not disturb each
// other.
#pragma once

#include <cstdint>
#include <span>

namespace lano {

struct NetworkSpeed {
  double latency = 0;    // seconds per message
  double bandwidth = 0;  // bytes per second into one rank
};

// What comes to a rank in a pass.
struct PassTraffic {
  double bytes = 0;
  std::int64_t gathers = 0, swaps = 0;
};

double exchange_seconds(const PassTraffic& traffic, int ranks, const NetworkSpeed& network);

// point_seconds: t of one rank.
double pass_seconds(double points, double point_seconds, const PassTraffic& traffic, int ranks,
                    const NetworkSpeed& network);

// One kind of exchange, timed.
struct TimedExchange {
  PassTraffic traffic;
  double seconds = 0;
};
// Latency and bandwidth that give these times with the least sum of squared relative errors.
NetworkSpeed fit_network(std::span<const TimedExchange> timed, int ranks);

}  // namespace lano

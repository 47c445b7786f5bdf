#include "cluster/time_model.h"

#include <algorithm>
#include <cmath>

namespace lano {
namespace {

double messages(const PassTraffic& t, int ranks) {
  return static_cast<double>(t.gathers) * std::ceil(std::log2(static_cast<double>(ranks))) +
         static_cast<double>(t.swaps) * (ranks - 1);
}

}  // namespace

double exchange_seconds(const PassTraffic& traffic, int ranks, const NetworkSpeed& network) {
  return ranks < 2 ? 0.0 : messages(traffic, ranks) * network.latency + traffic.bytes / network.bandwidth;
}

double pass_seconds(double points, double point_seconds, const PassTraffic& traffic, int ranks,
                    const NetworkSpeed& network) {
  return point_seconds * points / ranks + exchange_seconds(traffic, ranks, network);
}

// Two unknowns, x = latency and y = 1 / bandwidth: sum over i of ((m_i x + b_i y) / s_i - 1)^2 is least where its two
// derivatives are zero.
NetworkSpeed fit_network(std::span<const TimedExchange> timed, int ranks) {
  double mm = 0, mb = 0, bb = 0, m1 = 0, b1 = 0;
  for (const TimedExchange& one : timed) {
    const double m = messages(one.traffic, ranks) / one.seconds, b = one.traffic.bytes / one.seconds;
    mm += m * m;
    mb += m * b;
    bb += b * b;
    m1 += m;
    b1 += b;
  }
  const double determinant = mm * bb - mb * mb;
  if (!(determinant > 0)) return {0, 1e300};
  const double x = (m1 * bb - b1 * mb) / determinant, y = (b1 * mm - m1 * mb) / determinant;
  return {std::max(0.0, x), 1 / std::max(1e-300, y)};
}

}  // namespace lano

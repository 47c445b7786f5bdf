// The one loop over time: an autoregressive operator applied to its own predictions. Runtime, training's validation,
// `lano eval` and `lano predict` all step through it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/operator.h"

namespace lano {

// Steps all queries together. query.call.state holds the first state [frames, N, du], oldest first, query.output takes
// what follows, [steps, N, du]; each prediction is the newest frame of the next step. `apply` evaluates some queries.
template <class Apply>
void roll_out_queries(std::span<const Operator::Query> queries, std::int64_t steps, std::int64_t frames,
                      const Apply& apply) {
  std::vector<Operator::Query> now(queries.begin(), queries.end());
  std::vector<std::vector<float>> windows;  // the last frames of each query, where a state has several
  for (const Operator::Query& query : queries) {
    if (frames > 1) windows.emplace_back(query.call.state.begin(), query.call.state.end());
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::size_t size = queries[q].call.state.size() / static_cast<std::size_t>(frames);
      if (step > 0 && frames == 1) now[q].call.state = now[q].output;
      if (step > 0 && frames > 1) {
        std::vector<float>& window = windows[q];
        std::copy(window.begin() + static_cast<std::ptrdiff_t>(size), window.end(), window.begin());
        std::copy(now[q].output.begin(), now[q].output.end(), window.end() - static_cast<std::ptrdiff_t>(size));
        now[q].call.state = window;
      }
      now[q].output = queries[q].output.subspan(static_cast<std::size_t>(step) * size, size);
    }
    apply(std::span<const Operator::Query>(now));
  }
}

}  // namespace lano

// The one loop over time: an autoregressive operator applied to its own answers. Runtime, training's validation,
// `lano eval` and `lano predict` all step through it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/operator.h"

namespace lano {

// Steps all queries together. query.call.state holds the first state [N, du], query.output takes all later ones
// [steps, N, du] one behind the other; each is the state of the step after it. `apply` answers some queries.
template <class Apply>
void roll_out_queries(std::span<const Operator::Query> queries, std::int64_t steps, const Apply& apply) {
  std::vector<Operator::Query> now(queries.begin(), queries.end());
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const std::size_t size = queries[q].call.state.size();
      if (step > 0) now[q].call.state = now[q].output;
      now[q].output = queries[q].output.subspan(static_cast<std::size_t>(step) * size, size);
    }
    apply(std::span<const Operator::Query>(now));
  }
}

}  // namespace lano

// The Hilbert order of a cloud as nodes of a graph, equal to core/hilbert.h, so that an exported model takes points as
// they come.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/onnx/graph.h"

namespace lano::onnx {

// coordinates [B, N, dims] and input [B, N, channels] (not read where channels is 0), physical; box: lower and upper
// end of each axis; points: the scalar N. Returns [B, N] whole numbers: the point at each place.
Value hilbert_order(Graph& g, const Value& coordinates, std::int64_t dims, const Value& input, std::int64_t channels,
                    const std::vector<double>& box, const Value& points);

// The place of each point, from the point at each place.
Value inverse_order(Graph& g, const Value& order, const Value& points);

// rows [B, N, channels], taken in an order [B, N].
Value reordered(Graph& g, const Value& rows, const Value& order);

}  // namespace lano::onnx

// Skilling's transform (core/hilbert.cpp) without bit operations, which ONNX has for unsigned numbers or later opsets
// only. With low(x) = x mod level, flipping the bits below a level is x + (level - 1) - 2 low(x), and exchanging them
// between two axes trades low(x) for low(y). The Gray code is a running sum over the axes modulo 2, its correction a
// running sum over the bits from the top.
//
// Sorting: TopK of all values takes equal ones by their index, so it is a stable sort, and sorting by the least key
// first and by the curve last gives the order by curve, coordinates, input. 0 and -0 count as equal here. O(N log N)
// per key; some 20 nodes per level and axis.
#include "runtime/onnx/order.h"

#include <utility>

namespace lano::onnx {
namespace {

constexpr std::int64_t kBits = 16;

// The cell of each point, one [B, N] per axis.
std::vector<Value> cells_of(Graph& g, const Value& coordinates, std::int64_t dims, const std::vector<double>& box) {
  std::vector<double> low, extent, cells;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dims); ++a) {
    const double size = box[2 * a + 1] - box[2 * a];
    low.push_back(box[2 * a]);
    extent.push_back(size > 0 ? size : 1);
    cells.push_back(size > 0 ? static_cast<double>(1 << kBits) : 0);
  }
  const Value physical = g.node("Cast", {coordinates}, {{"to", static_cast<std::int64_t>(Type::float64)}});
  const Value share = g.node("Div", {g.node("Sub", {physical, g.doubles({dims}, low)}), g.doubles({dims}, extent)});
  const Value last = g.number(static_cast<double>((1 << kBits) - 1));
  const Value place = g.node("Clip", {g.node("Mul", {share, g.doubles({dims}, cells)}), g.number(0.0), last});
  const Value cell = g.node("Cast", {place}, {{"to", static_cast<std::int64_t>(Type::int64)}});
  std::vector<Value> axes;
  for (std::int64_t a = 0; a < dims; ++a)
    axes.push_back(g.node("Gather", {cell, g.number(a)}, {{"axis", std::int64_t{2}}}));
  return axes;
}

// Reflects or exchanges the bits below each level, from the coarsest down.
void undo_excess_work(Graph& g, std::vector<Value>& x) {
  const Value two = g.number(std::int64_t{2});
  for (std::int64_t level = std::int64_t{1} << (kBits - 1); level > 1; level /= 2) {
    const Value step = g.number(level);
    for (std::size_t a = 0; a < x.size(); ++a) {
      const Value bit = g.node("Equal", {g.node("Mod", {g.node("Div", {x[a], step}), two}), g.number(std::int64_t{1})});
      const Value low0 = g.node("Mod", {x[0], step});
      const Value flipped = g.node("Sub", {g.node("Add", {x[0], g.number(level - 1)}), g.node("Mul", {two, low0})});
      if (a == 0) {
        x[0] = g.node("Where", {bit, flipped, x[0]});
        continue;
      }
      const Value exchange = g.node("Sub", {g.node("Mod", {x[a], step}), low0});
      const Value with_a = g.node("Add", {x[0], exchange});
      x[a] = g.node("Where", {bit, x[a], g.node("Sub", {x[a], exchange})});
      x[0] = g.node("Where", {bit, flipped, with_a});
    }
  }
}

// Place along the curve, [B, N].
Value keys_of(Graph& g, const std::vector<Value>& x) {
  const auto dims = static_cast<std::int64_t>(x.size());
  std::vector<Value> columns;
  for (const Value& each : x) columns.push_back(g.node("Unsqueeze", {each, g.list({2, 3})}));
  const Value axes = g.node("Concat", columns, {{"axis", std::int64_t{2}}});  // [B, N, dims, 1]
  std::vector<std::int64_t> levels, weights;
  for (std::int64_t bit = kBits - 1; bit >= 0; --bit) levels.push_back(std::int64_t{1} << bit);
  for (std::int64_t a = 0; a < dims; ++a) {
    for (std::int64_t bit = kBits - 1; bit >= 0; --bit)
      weights.push_back(std::int64_t{1} << (bit * dims + dims - 1 - a));
  }
  const Value two = g.number(std::int64_t{2});
  const Value bits = g.node("Mod", {g.node("Div", {axes, g.list(levels)}), two});  // [B, N, dims, bits]
  const Value gray = g.node("Mod", {g.node("CumSum", {bits, g.number(std::int64_t{2})}), two});
  const Value last = g.node("Gather", {gray, g.list({dims - 1})}, {{"axis", std::int64_t{2}}});
  const Value flip = g.node("CumSum", {last, g.number(std::int64_t{3})}, {{"exclusive", std::int64_t{1}}});
  const Value index = g.node("Mod", {g.node("Add", {gray, flip}), two});
  return g.node("ReduceSum", {g.node("Mul", {index, g.ints({dims, kBits}, weights)}), g.list({2, 3})},
                {{"keepdims", std::int64_t{0}}});
}

// The order that sorts keys [B, N]; equal ones stay as they are.
Value sorting_order(Graph& g, const Value& keys, const Value& points) {
  const Value all = g.node("Unsqueeze", {points, g.list({0})});
  return g.nodes("TopK", 2, {keys, all}, {{"axis", std::int64_t{1}}, {"largest", std::int64_t{0}}})[1];
}

}  // namespace

Value hilbert_order(Graph& g, const Value& coordinates, std::int64_t dims, const Value& input, std::int64_t channels,
                    const std::vector<double>& box, const Value& points) {
  std::vector<Value> cells = cells_of(g, coordinates, dims, box);
  undo_excess_work(g, cells);
  std::vector<Value> keys;  // least first
  const auto columns = [&](const Value& of, std::int64_t count) {
    for (std::int64_t c = count - 1; c >= 0; --c)
      keys.push_back(g.node("Gather", {of, g.number(c)}, {{"axis", std::int64_t{2}}}));
  };
  columns(input, channels);
  columns(coordinates, dims);
  keys.push_back(keys_of(g, cells));
  const std::vector<Attribute> along{{"axis", std::int64_t{1}}};
  Value order;
  for (const Value& key : keys) {
    if (order.empty()) {
      order = sorting_order(g, key, points);
    } else {
      const Value next = sorting_order(g, g.node("GatherElements", {key, order}, along), points);
      order = g.node("GatherElements", {order, next}, along);
    }
  }
  return order;
}

Value inverse_order(Graph& g, const Value& order, const Value& points) { return sorting_order(g, order, points); }

Value reordered(Graph& g, const Value& rows, const Value& order) {
  return g.node("GatherND", {rows, g.node("Unsqueeze", {order, g.list({2})})}, {{"batch_dims", std::int64_t{1}}});
}

}  // namespace lano::onnx

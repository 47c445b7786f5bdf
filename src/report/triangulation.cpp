// Points are put on a grid of 2^26 steps along the longer side of their box, so that both predicates are exact in
// integers of 128 bits. In the order of x (then y) each point lies outside the hull of those before: it is joined to
// the edges it sees, and edges are flipped until every one is Delaunay (Lawson). About N^1.5 flips for N even points.
#include "report/triangulation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace lano {
namespace {

__extension__ typedef __int128 Wide;

struct GridPoint {
  std::int64_t x = 0, y = 0;
  auto operator<=>(const GridPoint&) const = default;
};

// Above 0: a, b, c turn to the left.
std::int64_t turn(const GridPoint& a, const GridPoint& b, const GridPoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Above 0: d lies in the circle through a, b, c, which turn to the left.
bool in_circle(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d) {
  const std::int64_t ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, by = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
  const auto lifted = [](std::int64_t x, std::int64_t y) { return static_cast<Wide>(x * x + y * y); };
  const Wide determinant = lifted(ax, ay) * (bx * cy - by * cx) + lifted(bx, by) * (cx * ay - cy * ax) +
                           lifted(cx, cy) * (ax * by - ay * bx);
  return determinant > 0;
}

std::vector<GridPoint> on_grid(std::span<const double> points) {
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
  for (std::size_t i = 0; i < points.size(); ++i) {
    low[i % 2] = std::min(low[i % 2], points[i]);
    high[i % 2] = std::max(high[i % 2], points[i]);
  }
  const double extent = std::max({high[0] - low[0], high[1] - low[1], 1e-300});
  const auto place = [&](double value, int axis) {
    return static_cast<std::int64_t>(std::llround((value - low[axis]) / extent * static_cast<double>(1 << 26)));
  };
  std::vector<GridPoint> grid(points.size() / 2);
  for (std::size_t p = 0; p < grid.size(); ++p) grid[p] = {place(points[2 * p], 0), place(points[2 * p + 1], 1)};
  return grid;
}

// Half-edge 3 t + k runs from corner k of triangle t to the next; `twin` is the one that runs back, kNone on the hull.
class Builder {
 public:
  explicit Builder(std::vector<GridPoint> points) : points_(std::move(points)), edge_(points_.size(), kNone) {
    next_.assign(points_.size(), kNone);
    previous_.assign(points_.size(), kNone);
  }

  Triangles build() {
    std::vector<std::size_t> order(points_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return std::pair(points_[a], a) < std::pair(points_[b], b); });
    order.erase(
        std::unique(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return points_[a] == points_[b]; }),
        order.end());
    std::size_t first = 2;  // the first point off the line of those before
    while (first < order.size() && turn(points_[order[0]], points_[order[1]], points_[order[first]]) == 0) ++first;
    if (first >= order.size()) return {};
    begin_with({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first)}, order[first]);
    for (std::size_t i = first + 1; i < order.size(); ++i) add(order[i], order[i - 1]);
    Triangles out;
    out.reserve(corner_.size());
    for (const std::size_t c : corner_) out.push_back(static_cast<std::int64_t>(c));
    return out;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static std::size_t after(std::size_t edge) { return edge % 3 == 2 ? edge - 2 : edge + 1; }

  void pair_up(std::size_t a, std::size_t b) {
    if (a != kNone) twin_[a] = b;
    if (b != kNone) twin_[b] = a;
  }
  std::size_t add_triangle(std::size_t a, std::size_t b, std::size_t c) {  // turning to the left
    corner_.insert(corner_.end(), {a, b, c});
    twin_.resize(corner_.size(), kNone);
    return corner_.size() - 3;
  }
  // Along the hull, anticlockwise: from a to b over the half-edge.
  void set_hull(std::size_t a, std::size_t b, std::size_t edge) {
    next_[a] = b;
    previous_[b] = a;
    edge_[a] = edge;
  }

  void begin_with(std::vector<std::size_t> line, std::size_t apex) {
    if (turn(points_[line[0]], points_[line[1]], points_[apex]) < 0) std::reverse(line.begin(), line.end());
    std::size_t before = kNone;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      const std::size_t t = add_triangle(line[i], line[i + 1], apex);
      set_hull(line[i], line[i + 1], t);
      if (before == kNone) {
        set_hull(apex, line[0], t + 2);
      } else {
        pair_up(before, t + 2);
      }
      before = t + 1;
    }
    set_hull(line.back(), apex, before);
    for (std::size_t e = 0; e < corner_.size(); ++e) legalise(e);
  }

  // `last` is the point added before: on the hull, and seen.
  void add(std::size_t p, std::size_t last) {
    const auto seen = [&](std::size_t from) { return turn(points_[from], points_[next_[from]], points_[p]) < 0; };
    std::size_t low = last, high = last;  // what is seen of the hull runs from low to high, anticlockwise
    while (seen(previous_[low])) low = previous_[low];
    while (seen(high)) high = next_[high];
    std::vector<std::size_t> fresh;
    std::size_t before = kNone;
    for (std::size_t at = low; at != high;) {
      const std::size_t to = next_[at];
      const std::size_t t = add_triangle(to, at, p);  // to->at, at->p, p->to
      pair_up(t, edge_[at]);
      if (at == low) {
        edge_[low] = t + 1;
      } else {
        pair_up(before, t + 1);
      }
      before = t + 2;
      fresh.push_back(t);
      at = to;
    }
    set_hull(low, p, edge_[low]);
    set_hull(p, high, before);
    for (const std::size_t edge : fresh) legalise(edge);
  }

  void legalise(std::size_t start) {
    stack_.push_back(start);
    while (!stack_.empty()) {
      const std::size_t edge = stack_.back();
      stack_.pop_back();
      const std::size_t other = twin_[edge];
      if (other == kNone) continue;
      // Quadrilateral a, d, b, c: edge a->b with apex c on this side, b->a with apex d on the other.
      const std::size_t ab = edge, bc = after(ab), ca = after(bc), ba = other, ad = after(ba), db = after(ad);
      const std::size_t a = corner_[ab], b = corner_[bc], c = corner_[ca], d = corner_[db];
      if (!in_circle(points_[a], points_[b], points_[c], points_[d])) continue;
      const std::size_t outer[4] = {twin_[ad], twin_[db], twin_[bc], twin_[ca]};
      // The triangles become a, d, c and d, b, c. Their places: ab, bc, ca and ba, ad, db.
      corner_[ab] = a;
      corner_[bc] = d;
      corner_[ca] = c;
      corner_[ba] = d;
      corner_[ad] = b;
      corner_[db] = c;
      attach(ab, outer[0]);
      attach(ba, outer[1]);
      attach(ad, outer[2]);
      attach(ca, outer[3]);
      pair_up(bc, db);
      stack_.insert(stack_.end(), {ab, ba, ad, ca});
    }
  }
  void attach(std::size_t edge, std::size_t outer) {
    twin_[edge] = outer;
    if (outer != kNone) {
      twin_[outer] = edge;
    } else {
      edge_[corner_[edge]] = edge;  // it lies on the hull
    }
  }

  std::vector<GridPoint> points_;
  std::vector<std::size_t> corner_, twin_, stack_;
  std::vector<std::size_t> next_, previous_, edge_;  // of points on the hull
};

}  // namespace

Triangles delaunay(std::span<const double> points) {
  if (points.size() < 6) return {};
  return Builder(on_grid(points)).build();
}

// The spacing around a point is what two fifths of its edges stay below: more than half may be bridges, and of the six
// of a stretched mesh two may be short. Of its own and its neighbours' the median counts, for a corner of a hole may
// see all of its rim.
Triangles without_bridges(const Triangles& triangles, std::span<const double> points) {
  constexpr double kFar = 4.5;  // edges of even clouds of random points are shorter than that, but for the hull's
  const auto length = [&](std::int64_t a, std::int64_t b) {
    const auto i = static_cast<std::size_t>(2 * a), j = static_cast<std::size_t>(2 * b);
    return std::hypot(points[i] - points[j], points[i + 1] - points[j + 1]);
  };
  const auto each_edge = [&](const auto& see) {  // inner edges twice
    for (std::size_t e = 0; e < triangles.size(); ++e) see(triangles[e], triangles[e % 3 == 2 ? e - 2 : e + 1]);
  };
  const auto part_of = [](std::vector<double>& values, double share) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  std::vector<std::vector<double>> around(points.size() / 2);
  each_edge([&](std::int64_t a, std::int64_t b) {
    around[static_cast<std::size_t>(a)].push_back(length(a, b));
    around[static_cast<std::size_t>(b)].push_back(length(a, b));
  });
  std::vector<double> own(around.size(), 0.0), spacing(around.size(), 0.0);
  for (std::size_t p = 0; p < around.size(); ++p) {
    if (!around[p].empty()) own[p] = part_of(around[p], 0.4);
    around[p].assign(1, own[p]);
  }
  each_edge([&](std::int64_t a, std::int64_t b) {
    around[static_cast<std::size_t>(a)].push_back(own[static_cast<std::size_t>(b)]);
    around[static_cast<std::size_t>(b)].push_back(own[static_cast<std::size_t>(a)]);
  });
  for (std::size_t p = 0; p < around.size(); ++p) spacing[p] = part_of(around[p], 0.5);
  Triangles kept;
  for (std::size_t t = 0; t < triangles.size(); t += 3) {
    const std::int64_t a = triangles[t], b = triangles[t + 1], c = triangles[t + 2];
    const double longest = std::max({length(a, b), length(b, c), length(c, a)});
    std::vector<double> corners;
    for (const std::int64_t p : {a, b, c}) corners.push_back(spacing[static_cast<std::size_t>(p)]);
    if (longest <= kFar * part_of(corners, 0.5)) kept.insert(kept.end(), {a, b, c});
  }
  return kept;
}

Triangles triangles_of_cells(CellKind kind, std::span<const std::int64_t> cells) {
  using Corners = std::array<std::size_t, 3>;
  std::vector<Corners> parts;
  const auto face = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    parts.push_back({a, b, c});
    parts.push_back({a, c, d});
  };
  switch (kind) {
    case CellKind::line:
      break;
    case CellKind::triangle:
      parts = {{0, 1, 2}};
      break;
    case CellKind::quadrilateral:
      face(0, 1, 2, 3);
      break;
    case CellKind::tetrahedron:
      parts = {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
      break;
    case CellKind::hexahedron:
      face(0, 1, 2, 3), face(4, 5, 6, 7), face(0, 1, 5, 4), face(1, 2, 6, 5), face(2, 3, 7, 6), face(3, 0, 4, 7);
      break;
  }
  const auto corners = static_cast<std::size_t>(cell_corners(kind));
  Triangles out;
  for (std::size_t cell = 0; cell + corners <= cells.size(); cell += corners) {
    for (const Corners& part : parts) {
      for (const std::size_t corner : part) out.push_back(cells[cell + corner]);
    }
  }
  return out;
}

}  // namespace lano

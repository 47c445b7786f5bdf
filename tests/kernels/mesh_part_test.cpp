// The part of a mesh that a rank has, with threads in place of ranks: its stencil reads what the whole mesh has, also
// where the halo comes in rounds, and sums have the bits of one rank.
#include "kernels/mesh_part.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"
#include "kernels/network_parts.h"
#include "thread_ranks.h"

namespace lano::mesh_part_test {
namespace {

using namespace kernels;
using test::on_ranks;
using Index = std::int64_t;

struct Case {
  const char* name;
  Shape mesh;
  std::vector<bool> periodic{};
  Index cloud = 0;  // points, where there is no mesh
  Shape trained{};  // another resolution than that asked for
};

std::vector<Case> cases() {
  return {{"grid", {40, 50}},
          {"torus", {40, 50}, {true, true}},
          {"row each", {4, 500}},
          {"line", {2500}},
          {"space", {12, 13, 14}},
          {"finer", {60, 50}, {}, 0, {30, 25}},
          {"coarser", {40, 50}, {}, 0, {90, 100}},
          {"cloud", {}, {}, 2000}};
}

struct Made {
  kernels::Geometry geometry;
  std::unique_ptr<Neighbours> neighbours;
  Sample sample() const { return {0, &geometry, neighbours.get()}; }
};

// tables: of the stencil, of the whole mesh.
Made make(const Case& c, bool tables = true) {
  LanoConfig config;
  config.agents = 8;
  LanoShape shape;
  shape.dims = c.cloud > 0 ? 2 : std::ssize(c.mesh);
  shape.axes = std::ssize(c.mesh);
  shape.periodic = c.periodic;
  shape.mesh = c.trained.empty() ? c.mesh : c.trained;
  shape.points = c.cloud;
  const Index points = c.cloud > 0 ? c.cloud : element_count(c.mesh);
  const Layout layout = lano_layout(config, shape, points, c.mesh, {}, {}, {}, {});
  Made made{make_geometry(config, {8}, {8}, points, c.mesh, layout.axes, true, tables), nullptr};
  if (c.cloud > 0) {
    RandomStream random(1, Purpose::test, 0);
    std::vector<float> places;
    for (Index i = 0; i < 2 * points; ++i) places.push_back(static_cast<float>(random.uniform()));
    made.neighbours = std::make_unique<Neighbours>(places, 2, 0, true);
  }
  return made;
}

float value(Index point, Index column) { return std::sin(static_cast<float>(point * 7 + column)); }

// What the stencil reads of a rank's own points is there once it was fetched, ahead and back; all else stays untouched.
TEST(MeshPart, HaloBringsWhatTheStencilReads) {
  constexpr Index kColumns = 16, kStride = 32;
  for (const Case& c : cases()) {
    const Made made = make(c);
    const Sample sample = made.sample();
    const Partition partition = divide({made.geometry.points}, kTrainingUnit);
    Index taps = 1;
    for (std::size_t a = 0; a < std::max<std::size_t>(1, c.cloud > 0 ? 2 : c.mesh.size()); ++a) taps *= 3;
    std::vector<float> filter(static_cast<std::size_t>(taps * kColumns));
    for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = value(static_cast<Index>(i), 3);
    const auto stencil = [&](const std::vector<float>& rows, bool back, Index first, Index count) {
      Scratch scratch{};
      std::vector<float> out(static_cast<std::size_t>(count * kStride));
      add_stencil(kernels::kernels(), sample, {rows.data(), kStride, filter.data(), kColumns}, back, first, count,
                  out.data(), kStride, scratch);
      return out;
    };
    std::vector<float> all(static_cast<std::size_t>(made.geometry.points * kStride));
    for (Index p = 0; p < made.geometry.points; ++p) {
      for (Index column = 0; column < kColumns; ++column)
        all[static_cast<std::size_t>(p * kStride + column)] = value(p, column);
    }
    for (const auto& [size, at_once] : {std::pair{2, 0}, {3, 0}, {4, 0}, {3, 6400}}) {
      const auto fetch_and_read = [&](Ranks& ranks) {
        Sample samples[] = {sample};
        const MeshPart part(ranks, samples, partition, true, true, true);
        const Share own = part.own_points(0);
        for (const bool back : {false, true}) {
          std::vector<float> rows(all.size(), std::numeric_limits<float>::quiet_NaN());
          std::copy(all.begin() + own.first * kStride, all.begin() + own.last * kStride,
                    rows.begin() + own.first * kStride);
          part.fetch_halo(rows.data(), kStride, kColumns, back);
          EXPECT_EQ(stencil(rows, back, own.first, own.count()), stencil(all, back, own.first, own.count()))
              << c.name << " on " << size << " ranks" << (back ? ", back" : "");
          // A rank does not take the whole mesh for its halo, unless that is what its stencil reads.
          if (std::string(c.name) == "grid") {
            Index there = 0;
            for (Index p = 0; p < made.geometry.points; ++p)
              there += !std::isnan(rows[static_cast<std::size_t>(p * kStride)]);
            EXPECT_LE(there - own.count(), 4 * c.mesh[1]);
          }
        }
      };
      on_ranks(size, fetch_and_read, static_cast<std::size_t>(at_once));
    }
  }
}

// Where nobody has tables of the whole mesh, a rank's own say the same of its points.
TEST(MeshPart, OwnTablesSayWhatThoseOfTheWholeMeshSay) {
  for (const Case& c : cases()) {
    if (c.cloud > 0) continue;
    const Made whole = make(c), without = make(c, false);
    ASSERT_TRUE(without.geometry.table.empty());
    const Partition partition = divide({whole.geometry.points}, kTrainingUnit);
    on_ranks(3, [&](Ranks& ranks) {
      Sample samples[] = {without.sample()};
      const MeshPart part(ranks, samples, partition, true, true, true);
      const Share own = part.own_points(0);
      for (const bool back : {false, true}) {
        const TapTable &mine = back ? samples[0].geometry->table_back : samples[0].geometry->table,
                       &all = back ? whole.geometry.table_back : whole.geometry.table;
        ASSERT_EQ(mine.points(), own.count()) << c.name;
        for (Index p = own.first; p < own.last; ++p) {
          for (Index t = 0; t < all.taps(); ++t) {
            ASSERT_EQ(mine.first(p)[t + 1] - mine.first(p)[t], all.first(p)[t + 1] - all.first(p)[t]) << c.name;
            for (std::uint32_t e = 0; e < all.first(p)[t + 1] - all.first(p)[t]; ++e) {
              const TapEntry &here = mine.entries()[mine.first(p)[t] + e], &there = all.entries()[all.first(p)[t] + e];
              ASSERT_TRUE(here.row == there.row && here.weight == there.weight) << c.name << " point " << p;
            }
          }
        }
      }
    });
  }
}

TEST(MeshPart, SumsHaveTheBitsOfOneRank) {
  const Made made = make({"grid", {40, 50}});
  Sample samples[] = {made.sample()};
  const Partition partition = divide({2000}, kTrainingUnit);
  const auto units = static_cast<Index>(partition.units.size());
  constexpr Index kWidth = 9;
  const auto number = [](Index u, Index i) {
    return u % 3 == 1 ? (u % 2 == 0 ? 1e8f : -1e8f) : 0.37f * static_cast<float>(u * 7 + i);
  };
  std::vector<float> wanted(kWidth);
  for (Index i = 0; i < kWidth; ++i) {
    wanted[static_cast<std::size_t>(i)] = number(0, i);
    for (Index u = 1; u < units; ++u) wanted[static_cast<std::size_t>(i)] += number(u, i);
  }
  for (const int size : {2, 3, 4}) {
    on_ranks(size, [&](Ranks& ranks) {
      const MeshPart part(ranks, samples, partition, true, false, false);
      std::vector<float> rows(static_cast<std::size_t>(units * 16), -1);
      for (const Index u : part.units()) {
        for (Index i = 0; i < kWidth; ++i) rows[static_cast<std::size_t>(u * 16 + i)] = number(u, i);
      }
      part.sum_units(rows.data(), 16, kWidth);
      EXPECT_EQ(std::vector<float>(rows.begin(), rows.begin() + kWidth), wanted);
    });
  }
}

TEST(MeshPart, EveryPointIsOneRanks) {
  for (const Index points : {2600, 7225, 5000000}) {
    for (const int size : {1, 2, 3}) {
      Index at = 0;
      for (int r = 0; r < size; ++r) {
        on_ranks(size, [&](Ranks& ranks) {
          const Share own = predicted_points(points, ranks);
          if (ranks.rank() != r) return;
          EXPECT_EQ(own.first, at);
          at = own.last;
        });
      }
      EXPECT_EQ(at, points);
    }
  }
  on_ranks(4, [](Ranks& ranks) { EXPECT_THROW(predicted_points(1000, ranks), UsageError); });
}

}  // namespace
}  // namespace lano::mesh_part_test

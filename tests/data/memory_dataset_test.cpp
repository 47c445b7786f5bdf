// Arrays in memory as a dataset: what is read is what the same arrays give from a file.
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/dataset.h"
#include "scratch.h"

namespace lano::memory_dataset_test {
namespace {

std::vector<float> counting(std::size_t size, float from) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = from + 0.5f * static_cast<float>(i);
  return values;
}

SetDescription described(Geometry geometry, Shape shape, std::vector<double> time = {}) {
  SetDescription d;
  d.name = "made";
  d.geometry = geometry;
  d.shape = std::move(shape);
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.input = {{"a", "1"}, {"u at t=0", "1"}};
  d.output = {{"u", "1"}};
  d.box = {0, 1, 0, 1};
  d.time = std::move(time);
  d.generator = "{}";
  return d;
}

void expect_same(const DatasetReader& file, const DatasetReader& memory) {
  EXPECT_EQ(file.hash(), memory.hash());
  EXPECT_EQ(file.shared_coordinates(), memory.shared_coordinates());
  EXPECT_EQ(file.counts(), memory.counts());
  EXPECT_EQ(file.splits(), memory.splits());
  EXPECT_EQ(file.description().time, memory.description().time);
  const std::vector<std::int64_t> some{2, 0};
  const Samples a = file.read(some), b = memory.read(some);
  EXPECT_EQ(a.coordinates, b.coordinates);
  EXPECT_EQ(a.input, b.input);
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.frames, b.frames);
  EXPECT_EQ(a.own_coordinates, b.own_coordinates);
}

TEST(MemoryDataset, ReadsAsAFileDoes) {
  const std::vector<Split> splits{Split::train, Split::validation, Split::test};
  for (const bool shared : {true, false}) {
    for (const InitialFrames initial : {InitialFrames::input, InitialFrames::output}) {
      const test::Scratch scratch;
      MemoryDataset arrays{described(Geometry::grid, {3, 2}, {1, 2}), splits, {}, shared, {}, {}, {}, {}};
      arrays.description.initial_time = {0};
      const auto x = counting(shared ? 12 : 36, 1), a = counting(36, 100), u = counting(36, 200);
      arrays.coordinates = x;
      arrays.input = a;
      arrays.output = u;
      DatasetWriter writer(scratch / "set.h5", arrays.description, splits,
                           shared ? std::span<const float>(x) : std::span<const float>());
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto part = [i](const std::vector<float>& all) {
          return std::span(all).subspan(static_cast<std::size_t>(i) * 12, 12);
        };
        writer.write(i, shared ? std::span<const float>() : part(x), part(a), part(u));
      }
      writer.commit();
      expect_same(DatasetReader(scratch / "set.h5", initial),
                  DatasetReader(std::make_shared<const MemoryDataset>(arrays), initial));
    }
  }
}

TEST(MemoryDataset, CloudsOfDifferentSizes) {
  const test::Scratch scratch;
  const std::vector<Split> splits{Split::train, Split::validation, Split::test};
  const auto x = counting(18, 1), a = counting(18, 100), u = counting(9, 200);
  const MemoryDataset arrays{described(Geometry::points, {3}), splits, {4, 2, 3}, false, x, a, u, {}};
  DatasetWriter writer(scratch / "set.h5", arrays.description, splits, arrays.counts);
  std::size_t first = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto count = static_cast<std::size_t>(arrays.counts[static_cast<std::size_t>(i)]);
    writer.write(i, std::span(x).subspan(2 * first, 2 * count), std::span(a).subspan(2 * first, 2 * count),
                 std::span(u).subspan(first, count));
    first += count;
  }
  writer.commit();
  expect_same(DatasetReader(scratch / "set.h5"), DatasetReader(std::make_shared<const MemoryDataset>(arrays)));
}

TEST(MemoryDataset, SaysWhatDoesNotFit) {
  const std::vector<Split> splits(3, Split::train);
  const auto x = counting(12, 1), a = counting(36, 1), u = counting(18, 1);
  const MemoryDataset good{described(Geometry::grid, {3, 2}), splits, {}, true, x, a, u, {}};
  const auto opened = [](const MemoryDataset& arrays) {
    return DatasetReader(std::make_shared<const MemoryDataset>(arrays)).read(std::vector<std::int64_t>{0, 1, 2}).count;
  };
  EXPECT_EQ(opened(good), 3);
  MemoryDataset bad = good;
  bad.output = std::span(u).first(17);
  EXPECT_ERROR_WITH(opened(bad), "expected 18 values of output, found 17");
  bad = good;
  bad.splits.clear();
  EXPECT_ERROR_WITH(opened(bad), "there are no samples");
  bad = good;
  bad.counts = {1, 2, 3};  // of a grid
  EXPECT_ERROR_WITH(opened(bad), "samples of different sizes must be steady point clouds");
  auto nan = a;
  nan[20] = std::numeric_limits<float>::quiet_NaN();
  bad = good;
  bad.input = nan;
  EXPECT_ERROR_WITH(opened(bad), "in /input, found nan in sample 1 at value 8");
}

}  // namespace
}  // namespace lano::memory_dataset_test

#include "data/thin_dataset.h"

#include <cmath>

#include "data/dataset.h"
#include "scratch.h"

namespace lano::thin_dataset_test {
namespace {

// A number that says of which sample, frame, point and channel it is.
float mark(std::int64_t sample, std::int64_t frame, std::int64_t i, std::int64_t j, std::int64_t channel) {
  return static_cast<float>(10000 * sample + 1000 * frame + 100 * i + 10 * j + channel);
}

std::vector<float> field(std::int64_t sample, std::int64_t frames, std::int64_t channels, const Shape& shape,
                         std::int64_t stride) {
  std::vector<float> values;
  for (std::int64_t t = 0; t < frames; ++t) {
    for (std::int64_t i = 0; i < shape[0]; i += stride) {
      for (std::int64_t j = 0; j < shape[1]; j += stride) {
        for (std::int64_t c = 0; c < channels; ++c) values.push_back(mark(sample, t, i, j, c));
      }
    }
  }
  return values;
}

const Shape kWhole{8, 7};

SetDescription set_of(Geometry geometry) {
  SetDescription d;
  d.name = "whole";
  d.geometry = geometry;
  d.shape = kWhole;
  d.coordinates = {{"x", "m"}, {"y", "m"}};
  d.input = {{"a", "1"}};
  d.output = {{"u", "Pa"}, {"v", "1"}};
  d.kept = {{"p", "1"}};
  d.box = {0, 1, 0, 2};
  d.time = {0, 1, 2};
  d.generator = R"({"program":"test"})";
  return d;
}

std::filesystem::path write_whole(const test::Scratch& scratch, Geometry geometry, bool shared) {
  const auto path = scratch / "whole.h5";
  const std::vector<float> x = field(0, 1, 2, kWhole, 1);
  DatasetWriter writer(path, set_of(geometry), make_splits(3, 1, 0.34),
                       shared ? std::span<const float>(x) : std::span<const float>());
  for (std::int64_t s = 0; s < 4; ++s) {
    const std::vector<float> own = field(s, 1, 2, kWhole, 1);
    writer.write(s, shared ? std::span<const float>() : std::span<const float>(own), field(s, 1, 1, kWhole, 1),
                 field(s, 3, 2, kWhole, 1), field(s, 1, 1, kWhole, 1));
  }
  writer.commit();
  return path;
}

TEST(ThinDataset, KeepsTheSamePointsOfEverything) {
  for (const bool shared : {true, false}) {
    const test::Scratch scratch;
    const auto whole = write_whole(scratch, Geometry::mesh, shared);
    thin_dataset(whole, 3, scratch / "thin.h5");
    const DatasetReader reader(scratch / "thin.h5");
    const SetDescription& set = reader.description();
    EXPECT_EQ(set.shape, (Shape{3, 3}));
    EXPECT_EQ(set.span, (std::vector<double>{6.0 / 7, 1}));
    EXPECT_EQ(set.time, (std::vector<double>{0, 1, 2}));
    EXPECT_NE(set.generator.find("\"kept_every\":3"), std::string::npos) << set.generator;
    EXPECT_EQ(reader.splits(), DatasetReader(whole).splits());
    EXPECT_EQ(reader.shared_coordinates(), shared);
    const std::int64_t last = 3;
    const Samples sample = reader.read({&last, 1});
    EXPECT_EQ(sample.coordinates, field(shared ? 0 : 3, 1, 2, kWhole, 3));
    EXPECT_EQ(sample.input, field(3, 1, 1, kWhole, 3));
    EXPECT_EQ(sample.output, field(3, 3, 2, kWhole, 3));
    EXPECT_EQ(reader.read_kept(3), field(3, 1, 1, kWhole, 3));
  }
}

// What was thinned is thinned again as if at once; a grid knows its places by coordinates and needs no span.
TEST(ThinDataset, TwiceIsTheProductOfTheStrides) {
  const test::Scratch scratch;
  const auto whole = write_whole(scratch, Geometry::mesh, true);
  thin_dataset(whole, 2, scratch / "two.h5");
  EXPECT_EQ(DatasetReader(scratch / "two.h5").description().span, (std::vector<double>{6.0 / 7, 1}));
  thin_dataset(scratch / "two.h5", 3, scratch / "six.h5");
  thin_dataset(whole, 6, scratch / "at-once.h5");
  const DatasetReader twice(scratch / "six.h5"), once(scratch / "at-once.h5");
  EXPECT_EQ(twice.description().span, once.description().span);
  EXPECT_EQ(twice.hash(), once.hash());
  const test::Scratch other;
  thin_dataset(write_whole(other, Geometry::grid, true), 3, other / "thin.h5");
  EXPECT_TRUE(DatasetReader(other / "thin.h5").description().span.empty());
}

TEST(ThinDataset, WhatLeavesNoMeshIsRefused) {
  const test::Scratch scratch;
  const auto whole = write_whole(scratch, Geometry::mesh, true);
  EXPECT_ERROR_WITH(thin_dataset(whole, 7, scratch / "thin.h5"), "two points on each axis");
  EXPECT_ERROR_WITH(thin_dataset(whole, 0, scratch / "thin.h5"), "two points on each axis");
  // Every third of eight points would come round a point too far.
  SetDescription torus = set_of(Geometry::grid);
  torus.periodic = {true, false};
  const std::vector<float> x = field(0, 1, 2, kWhole, 1);
  {
    DatasetWriter writer(scratch / "torus.h5", torus, make_splits(1, 0, 0), x);
    writer.write(0, {}, field(0, 1, 1, kWhole, 1), field(0, 3, 2, kWhole, 1), field(0, 1, 1, kWhole, 1));
    writer.commit();
  }
  EXPECT_ERROR_WITH(thin_dataset(scratch / "torus.h5", 3, scratch / "thin.h5"),
                    "divides the 8 points of a periodic axis");
  EXPECT_FALSE(std::filesystem::exists(scratch / "thin.h5"));
  thin_dataset(scratch / "torus.h5", 2, scratch / "thin.h5");
  EXPECT_EQ(DatasetReader(scratch / "thin.h5").description().periodic, torus.periodic);
}

// An invalid span: more than the whole, of another number of axes, of a grid.
TEST(Span, AnImpossibleOneIsRefused) {
  const test::Scratch scratch;
  const auto reading = [&](Geometry geometry, std::vector<double> span) {
    SetDescription set = set_of(geometry);
    set.span = std::move(span);
    return test::error_of([&] { check_span(set, "reading"); });
  };
  EXPECT_EQ(reading(Geometry::mesh, {0.5, 1}), "no error");
  for (const std::vector<double>& span : {std::vector<double>{0.5, 1.5}, {0.5}, {0, 1}, {0.5, std::nan("")}})
    EXPECT_NE(reading(Geometry::mesh, span).find("each above 0 and at most 1"), std::string::npos);
  EXPECT_NE(reading(Geometry::grid, {0.5, 1}).find("span"), std::string::npos);
}

}  // namespace
}  // namespace lano::thin_dataset_test

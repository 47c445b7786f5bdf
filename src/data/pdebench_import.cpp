#include "data/pdebench_import.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/hdf5_file.h"
#include "data/sample_import.h"

namespace lano {
namespace {

constexpr const char* kAxes[] = {"x", "y", "z"};

struct Grid {
  std::vector<AxisRange> ranges;  // of the axes of space
  std::vector<float> points;      // [N, dims]
  std::vector<double> box;
};

// Points at cell centres along each axis; the box reaches half a cell further.
Grid read_grid(const std::filesystem::path& file, const Shape& extents, std::int64_t stride) {
  Grid grid;
  std::vector<std::vector<float>> axes;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const auto source = open_array(file, fmt::format("{}-coordinate", kAxes[a]));
    expect_shape(*source, {extents[a]});
    const std::vector<float> all = source->read_all();
    const double half = all.size() > 1 ? 0.5 * (all.back() - all.front()) / static_cast<double>(all.size() - 1) : 0.5;
    grid.box.insert(grid.box.end(), {all.front() - half, all.back() + half});
    grid.ranges.push_back({0, kept_points(extents[a], stride), stride});
    axes.push_back(source->read({grid.ranges.back()}));
  }
  Shape shape;
  for (const AxisRange& range : grid.ranges) shape.push_back(range.count);
  const Shape strides = row_major_strides(shape);
  for (std::int64_t p = 0; p < element_count(shape); ++p) {
    for (std::size_t a = 0; a < shape.size(); ++a) {
      grid.points.push_back(axes[a][static_cast<std::size_t>(p / strides[a] % shape[a])]);
    }
  }
  return grid;
}

// Every stride-th time; t-coordinate may have one entry more than the tensor, the end of the last interval.
std::vector<double> read_times(const std::filesystem::path& file, std::int64_t frames, std::int64_t stride) {
  const auto source = open_array(file, "t-coordinate");
  if (source->shape() != Shape{frames + 1}) expect_shape(*source, {frames});
  const std::vector<float> all = source->read({{0, kept_points(frames, stride), stride}});
  return {all.begin(), all.end()};
}

std::filesystem::path only_file(const BenchmarkImport& options) {
  std::error_code error;
  if (options.from.size() != 1 || std::filesystem::is_directory(options.from.front(), error)) {
    fail_usage("importing pdebench", "one HDF5 file in --from",
               options.from.size() == 1 ? "a folder" : fmt::format("{} paths", options.from.size()),
               "import each file on its own");
  }
  return options.from.front();
}

}  // namespace

std::int64_t import_pdebench(const BenchmarkImport& options, const std::filesystem::path& out) {
  const std::string doing = "importing pdebench";
  const std::filesystem::path file = only_file(options);
  const std::int64_t stride = options.stride.value_or(1), time_stride = options.time_stride.value_or(1);
  if (stride < 1 || time_stride < 1)
    fail_usage(doing, "strides of at least 1", fmt::format("{} and {}", stride, time_stride));

  const std::shared_ptr<const ArraySource> tensor = open_array(file, "tensor");
  const bool steady = Hdf5File::open(file).has("nu");
  const Shape& shape = tensor->shape();
  if (shape.size() < 3 || shape.size() > 5 || element_count(shape) == 0) {
    fail(tensor->doing(), "axes of samples, times and one to three of space", shape_text(shape));
  }
  const std::int64_t available = shape[0], frames = shape[1];
  const Shape extents(shape.begin() + 2, shape.end());
  std::shared_ptr<const ArraySource> nu;
  if (steady) {
    nu = open_array(file, "nu");
    Shape expected{available};
    expected.insert(expected.end(), extents.begin(), extents.end());
    expect_shape(*nu, expected);
    if (frames != 1 || options.time_stride) {
      fail(tensor->doing(), "one time and no --time-stride in a file with 'nu'", fmt::format("{} times", frames));
    }
  }

  const Grid grid = read_grid(file, extents, stride);
  SetDescription d;
  d.name = file.stem().string();
  for (std::size_t a = 0; a < extents.size(); ++a) {
    d.shape.push_back(grid.ranges[a].count);
    d.coordinates.push_back({kAxes[a], "1"});
  }
  d.geometry = uniform_grid_spacing(d.shape, grid.points, nullptr) ? Geometry::grid : Geometry::mesh;
  d.input = {steady ? FieldInfo{"nu", "1"} : FieldInfo{"u at t=0", "1"}};
  d.output = {{"u", "1"}};
  d.box = grid.box;
  if (!steady) d.time = read_times(file, frames, time_stride);
  d.generator = nlohmann::json{
      {"program", "lano import"},
      {"sources", {file.filename().string()}},
      {"stride", stride},
      {"time_stride",
       time_stride}}.dump();

  const LoadSamples load = [&](std::int64_t first, std::int64_t count) {
    std::vector<AxisRange> space{{first, count, 1}};
    space.insert(space.end(), grid.ranges.begin(), grid.ranges.end());
    std::vector<AxisRange> motion = space;
    motion.insert(motion.begin() + 1, AxisRange{0, kept_points(frames, time_stride), time_stride});
    std::vector<AxisRange> start = space;
    start.insert(start.begin() + 1, AxisRange{0, 1, 1});
    SampleBlock block;
    block.input = steady ? nu->read(space) : tensor->read(start);
    block.output = tensor->read(motion);  // one channel: [S, T, N] already
    return block;
  };
  const std::int64_t tenth = available < 2 ? 0 : std::max<std::int64_t>(1, available / 10);
  const std::int64_t test = options.test_count.value_or(
      options.train_count ? std::max<std::int64_t>(0, std::min(tenth, available - *options.train_count)) : tenth);
  const std::int64_t train = options.train_count.value_or(std::max<std::int64_t>(0, available - test));
  expect_samples(doing, "train and test", train + test, available);
  return write_samples(out, d, grid.points, {load, 0, train}, {load, available - test, test},
                       samples_at_once(*tensor, frames * element_count(extents)), options.validation_share);
}

}  // namespace lano

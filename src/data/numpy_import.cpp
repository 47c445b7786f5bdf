// Arrays are read group by group (a group is one archive, or the files named one by one together), brought to
// [S, N, channels], checked against each other, and written sample by sample.
#include "data/numpy_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/array_source.h"
#include "data/dataset.h"
#include "data/npy.h"

namespace lano {
namespace {

struct Field {
  std::int64_t samples = 0, channels = 0;
  Shape shape;                // of one sample, without channels
  std::vector<float> values;  // [S, N, channels]

  std::span<const float> sample(std::int64_t i) const {
    const auto size = static_cast<std::size_t>(element_count(shape) * channels);
    return std::span(values).subspan(static_cast<std::size_t>(i) * size, size);
  }
};

struct Group {
  std::string origin;
  bool test = false;
  Field output;
  std::optional<Field> input, coords;  // coords with samples == 1 are shared
};

Field to_field(NumpyArray array, ChannelAxis axis, const std::string& doing) {
  const std::size_t least = axis == ChannelAxis::none ? 2 : 3;
  if (array.shape.size() < least) {
    fail(doing, fmt::format("an array of at least {} axes, samples first", least), shape_text(array.shape),
         "see --channels in 'lano import --help'");
  }
  if (element_count(array.shape) == 0)
    fail(doing, "an array with values", shape_text(array.shape), "import it without that array");
  Field field;
  field.samples = array.shape.front();
  if (axis == ChannelAxis::none) {
    field.channels = 1;
    field.shape.assign(array.shape.begin() + 1, array.shape.end());
  } else if (axis == ChannelAxis::last) {
    field.channels = array.shape.back();
    field.shape.assign(array.shape.begin() + 1, array.shape.end() - 1);
  } else {
    field.channels = array.shape[1];
    field.shape.assign(array.shape.begin() + 2, array.shape.end());
  }
  constexpr std::int64_t kMostChannels = 4096;  // each gets a name
  if (field.channels > kMostChannels) {
    fail(doing, fmt::format("at most {} channels", kMostChannels), shape_text(array.shape),
         "see --channels in 'lano import --help'");
  }
  if (axis != ChannelAxis::first) {
    field.values = std::move(array.values);
    return field;
  }
  const auto points = static_cast<std::size_t>(element_count(field.shape));
  const auto channels = static_cast<std::size_t>(field.channels);
  field.values.resize(array.values.size());
  for (std::size_t s = 0; s < static_cast<std::size_t>(field.samples); ++s) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < points; ++p) {
        field.values[(s * points + p) * channels + c] = array.values[(s * channels + c) * points + p];
      }
    }
  }
  return field;
}

void check_finite(const Field& field, const std::string& doing, const char* what) {
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    if (!std::isfinite(field.values[i])) {
      const auto per_sample = static_cast<std::size_t>(element_count(field.shape) * field.channels);
      fail(doing, fmt::format("finite numbers in the {}", what),
           fmt::format("{} in sample {}", field.values[i], i / per_sample), "remove or mend that sample");
    }
  }
}

// The array a name stands for: in a file of its own where the name says so, else in the archive of the group.
NumpyArray read_named(const std::filesystem::path& archive, const std::string& name) {
  const ArrayName array = parse_array_name(name).value_or(ArrayName{archive, name});
  const auto source = open_array(array.file, array.key);
  return {source->shape(), source->read_all()};
}

// Coordinates: [shape..., dx] for all samples, or [S, shape..., dx].
Field read_coords(const std::filesystem::path& archive, const std::string& name, const Field& output,
                  const std::string& doing) {
  NumpyArray array = read_named(archive, name);
  Shape once = output.shape;
  if (array.shape.size() == once.size() + 1 && std::equal(once.begin(), once.end(), array.shape.begin())) {
    array.shape.insert(array.shape.begin(), 1);
  }
  Field coords = to_field(std::move(array), ChannelAxis::last, doing);
  if (coords.shape != output.shape || (coords.samples != 1 && coords.samples != output.samples)) {
    Shape found{coords.samples};
    found.insert(found.end(), coords.shape.begin(), coords.shape.end());
    fail(doing, fmt::format("coordinates for {} samples of shape {}", output.samples, shape_text(output.shape)),
         fmt::format("{} and {} axes", shape_text(found), coords.channels), "the last axis holds x, y, z");
  }
  return coords;
}

Group read_group(const NumpyImport& options, const std::filesystem::path& archive, bool test) {
  Group group;
  group.origin =
      archive.empty() ? std::filesystem::path(options.output).filename().string() : archive.filename().string();
  group.test = test;
  const std::string doing = fmt::format("importing '{}'", group.origin);
  group.output = to_field(read_named(archive, options.output), options.channels, doing);
  check_finite(group.output, doing, "output");
  if (!options.input.empty()) {
    group.input = to_field(read_named(archive, options.input), options.channels, doing);
    check_finite(*group.input, doing, "input");
    if (group.input->samples != group.output.samples || group.input->shape != group.output.shape) {
      fail(doing, fmt::format("input for {} samples of shape {}", group.output.samples, shape_text(group.output.shape)),
           fmt::format("{} samples of shape {}", group.input->samples, shape_text(group.input->shape)),
           "input and output live on the same points");
    }
  }
  if (!options.coords.empty()) {
    group.coords = read_coords(archive, options.coords, group.output, doing);
    check_finite(*group.coords, doing, "coordinates");
  }
  return group;
}

// A uniform grid in the box, [N, axes].
std::vector<float> grid_coordinates(const Shape& shape, GridPoints points, const std::vector<double>& box) {
  const std::size_t axes = shape.size();
  std::vector<float> coords(static_cast<std::size_t>(element_count(shape)) * axes);
  for (std::size_t p = 0; p < coords.size() / axes; ++p) {
    std::size_t rest = p;
    for (std::size_t a = axes; a-- > 0;) {
      const auto n = static_cast<std::size_t>(shape[a]);
      const auto i = static_cast<double>(rest % n);
      rest /= n;
      const double t = points == GridPoints::nodes     ? (n > 1 ? i / static_cast<double>(n - 1) : 0.5)
                       : points == GridPoints::centres ? (i + 0.5) / static_cast<double>(n)
                                                       : i / static_cast<double>(n);
      coords[p * axes + a] = static_cast<float>(box[2 * a] + t * (box[2 * a + 1] - box[2 * a]));
    }
  }
  return coords;
}

std::vector<FieldInfo> numbered_fields(const std::string& stem, std::int64_t count) {
  std::vector<FieldInfo> fields;
  for (std::int64_t i = 0; i < count; ++i) {
    fields.push_back({count == 1 ? stem : fmt::format("{}_{}", stem, i), "1"});
  }
  return fields;
}

struct Selected {
  const Group* group;
  std::int64_t row;
};

// Which samples of which group go to train (with validation) and to test.
std::pair<std::vector<Selected>, std::vector<Selected>> select(const NumpyImport& options,
                                                               const std::vector<Group>& groups) {
  std::vector<Selected> train, test;
  for (const Group& group : groups) {
    for (std::int64_t row = 0; row < group.output.samples; ++row) (group.test ? test : train).push_back({&group, row});
  }
  const std::string doing = "splitting the imported samples";
  if (options.test_files.empty()) {
    const auto available = static_cast<std::int64_t>(train.size());
    const std::int64_t wanted = options.test_count.value_or(std::llround(0.1 * static_cast<double>(available)));
    if (wanted < 0 || wanted > available)
      fail_usage(doing, fmt::format("at most {} test samples", available), std::to_string(wanted));
    test.assign(train.end() - wanted, train.end());
    train.resize(static_cast<std::size_t>(available - wanted));
  }
  const auto cut = [&](std::vector<Selected>& part, const std::optional<std::int64_t>& count, const char* name) {
    if (!count) return;
    if (*count < 0 || *count > static_cast<std::int64_t>(part.size())) {
      fail_usage(doing, fmt::format("at most {} {} samples", part.size(), name), std::to_string(*count));
    }
    part.resize(static_cast<std::size_t>(*count));
  };
  cut(train, options.train_count, "train");
  cut(test, options.test_count, "test");
  return {std::move(train), std::move(test)};
}

std::vector<Group> read_groups(const NumpyImport& options) {
  if (options.output.empty()) {
    fail_usage("importing arrays", "--output with the name of an array, a .npy file or FILE:KEY", "none",
               "see 'lano import --help'");
  }
  std::vector<Group> groups;
  for (const auto& path : options.train_files) groups.push_back(read_group(options, path, false));
  for (const auto& path : options.test_files) groups.push_back(read_group(options, path, true));
  if (groups.empty()) {
    const auto nameless = [](const std::string& name) { return !name.empty() && !parse_array_name(name); };
    if (nameless(options.output) || nameless(options.input) || nameless(options.coords)) {
      fail_usage(
          "importing arrays", "--train or --test with files, or FILE.npy or FILE:KEY in --input, --output and --coords",
          fmt::format("--output {}{}{}", options.output, options.input.empty() ? "" : " --input ", options.input),
          "see 'lano import --help'");
    }
    groups.push_back(read_group(options, "", false));
  }
  const Group& first = groups.front();
  for (const Group& group : groups) {
    const auto channels = [](const std::optional<Field>& field) { return field ? field->channels : 0; };
    if (group.output.shape != first.output.shape || group.output.channels != first.output.channels ||
        channels(group.input) != channels(first.input) || channels(group.coords) != channels(first.coords)) {
      fail(fmt::format("importing '{}'", group.origin),
           fmt::format("samples of shape {} as in '{}'", shape_text(first.output.shape), first.origin),
           shape_text(group.output.shape), "import sets of different resolution into files of their own");
    }
  }
  return groups;
}

}  // namespace

std::int64_t import_numpy(const NumpyImport& options, const std::filesystem::path& out) {
  const std::vector<Group> groups = read_groups(options);
  const Group& first = groups.front();
  const auto [train, test] = select(options, groups);

  SetDescription description;
  description.name = options.name;
  description.geometry = options.geometry;
  description.shape = first.output.shape;
  if (options.geometry == Geometry::points) {
    if (description.shape.size() != 1 || !first.coords) {
      fail_usage("importing points", "one axis of points and --coords", shape_text(description.shape),
                 "give --coords, or --geometry grid");
    }
  } else if (!first.coords && options.geometry == Geometry::mesh) {
    fail_usage("importing a mesh", "--coords with its curved coordinates", "none");
  }
  if (first.coords && options.geometry == Geometry::grid &&
      first.coords->channels != static_cast<std::int64_t>(description.shape.size())) {
    fail_usage("importing a grid", fmt::format("{} coordinates a point, as many as axes", description.shape.size()),
               std::to_string(first.coords->channels), "use --geometry mesh");
  }
  const std::size_t axes = first.coords ? static_cast<std::size_t>(first.coords->channels) : description.shape.size();
  // One set of coordinates serves all samples where every group brings the same single one.
  const bool per_sample = first.coords && std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
                            return group.coords->samples > 1 || group.coords->values != first.coords->values;
                          });

  std::vector<float> shared;
  if (!first.coords) {
    description.box = options.box;
    if (description.box.empty()) {
      for (std::size_t a = 0; a < axes; ++a) description.box.insert(description.box.end(), {0.0, 1.0});
    }
    if (description.box.size() != 2 * axes) {
      fail_usage("importing a grid", fmt::format("--box with {} numbers", 2 * axes),
                 std::to_string(description.box.size()));
    }
    shared = grid_coordinates(description.shape, options.grid_points, description.box);
  } else {
    description.box = options.box.empty() ? bounds(first.coords->values, first.coords->channels) : options.box;
    if (!per_sample) shared = first.coords->values;
  }
  const char* const axis_names[] = {"x", "y", "z"};
  for (std::size_t a = 0; a < axes; ++a) description.coordinates.push_back({a < 3 ? axis_names[a] : "w", "1"});
  description.input = numbered_fields("input", first.input ? first.input->channels : 0);
  description.output = numbered_fields("output", first.output.channels);
  nlohmann::json sources = nlohmann::json::array();
  for (const Group& group : groups) sources.push_back(group.origin);
  description.generator = nlohmann::json{{"program", "lano import"}, {"sources", sources}}.dump();

  DatasetWriter writer(out, description,
                       make_splits(static_cast<std::int64_t>(train.size()), static_cast<std::int64_t>(test.size()),
                                   options.validation_share),
                       shared);
  std::int64_t sample = 0;
  for (const auto* part : {&train, &test}) {
    for (const Selected& chosen : *part) {
      const Group& group = *chosen.group;
      std::span<const float> coords;
      if (per_sample) coords = group.coords->sample(group.coords->samples == 1 ? 0 : chosen.row);
      const std::span<const float> input = group.input ? group.input->sample(chosen.row) : std::span<const float>();
      writer.write(sample++, coords, input, group.output.sample(chosen.row));
    }
  }
  writer.commit();
  return sample;
}

}  // namespace lano

// Arrays are opened group by group (import_group.h), their axes identified (import_field.h), and read, changed and
// written in blocks of samples. Only one block is held: coordinates per sample are read once before, for their box and
// to see whether they are all the same.
#include "data/array_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/dataset.h"
#include "data/import_group.h"
#include "data/import_periodic.h"
#include "data/import_split.h"
#include "data/interpolation.h"

namespace lano {
namespace {

namespace fs = std::filesystem;

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

// The coordinates of all samples: their box, and whether they are one set.
struct CoordinateSurvey {
  bool shared = true;
  std::vector<float> values;  // [N, dims] where shared
  std::vector<double> box;
};

CoordinateSurvey survey_coordinates(const std::vector<ImportGroup>& groups) {
  CoordinateSurvey survey;
  const std::int64_t dims = groups.front().coords->dims();
  const bool ragged = groups.front().output->ragged();
  for (const ImportGroup& group : groups) {
    const std::int64_t samples = group.coords->shared() ? 1 : group.output->samples();
    const std::int64_t at_once = ragged ? 1 : group.output->at_once();
    for (std::int64_t first = 0; first < samples; first += at_once) {
      const std::vector<float> values = group.coords->read(first, std::min(at_once, samples - first));
      const std::vector<double> box = bounds(values, dims);
      if (survey.box.empty()) survey.box = box;
      for (std::size_t i = 0; i < box.size(); i += 2) {
        survey.box[i] = std::min(survey.box[i], box[i]);
        survey.box[i + 1] = std::max(survey.box[i + 1], box[i + 1]);
      }
      if (ragged) continue;
      const auto each = static_cast<std::size_t>(element_count(group.output->shape()) * dims);
      if (survey.values.empty())
        survey.values.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(each));
      for (std::size_t at = 0; at < values.size() && survey.shared; at += each)
        survey.shared =
            std::equal(survey.values.begin(), survey.values.end(), values.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  survey.shared = survey.shared && !ragged;
  return survey;
}

Geometry choose_geometry(const ArrayImport& options, const ImportGroup& first, const CoordinateSurvey* survey) {
  const ImportField& output = *first.output;
  const auto axes = static_cast<std::int64_t>(output.ragged() ? 1 : output.shape().size());
  const std::int64_t dims = survey != nullptr ? first.coords->dims() : axes;
  Geometry geometry = Geometry::grid;
  if (options.geometry) {
    geometry = *options.geometry;
  } else if (survey != nullptr) {
    const bool uniform =
        survey->shared && axes == dims && uniform_grid_spacing(output.shape(), survey->values, nullptr);
    geometry = uniform ? Geometry::grid : axes == 1 && dims > 1 ? Geometry::points : Geometry::mesh;
    if (output.ragged()) geometry = Geometry::points;
  }
  if (first.cells && geometry != Geometry::points)
    fail_usage("importing cells", "a cloud of points, whose corners they name", std::string(geometry_name(geometry)),
               "a grid or a structured mesh needs no --cells: leave it out");
  const std::string found = fmt::format("{} axes of points and {} coordinates per point", axes, dims);
  if (survey == nullptr && (geometry != Geometry::grid || output.ragged()))
    fail_usage_plainly(fmt::format("importing {}", geometry == Geometry::mesh ? "a mesh" : "points"),
                       "the coordinates of the points are missing", "give them with --coords");
  if (geometry == Geometry::points && axes != 1)
    fail_usage("importing points", "one axis of points", found, "use --geometry mesh, or leave --geometry out");
  if (output.ragged() && geometry != Geometry::points)
    fail_usage("importing samples of different sizes", "--geometry points", std::string(geometry_name(geometry)));
  if (geometry == Geometry::grid && axes != dims)
    fail_usage("importing a grid", "as many coordinates per point as axes", found,
               axes == 1 ? "this is a cloud: use --geometry points" : "use --geometry mesh");
  return geometry;
}

void check_box(const std::vector<double>& box, std::size_t axes) {
  if (box.size() != 2 * axes)
    fail_usage("importing a grid", fmt::format("--box with {} numbers", 2 * axes), std::to_string(box.size()),
               "lower and upper end of each axis");
  for (std::size_t a = 0; a < axes; ++a) {
    if (!(box[2 * a] < box[2 * a + 1]) || !std::isfinite(box[2 * a]) || !std::isfinite(box[2 * a + 1]))
      fail_usage("importing arrays", "--box with the lower end of each axis before its upper end",
                 fmt::format("{} {} on axis {}", box[2 * a], box[2 * a + 1], a), "swap them");
  }
}

void name_fields(const ArrayImport& options, const ImportGroup& first, SetDescription& d) {
  d.output = field_infos(first.output->named(), first.output->channels());
  for (const ImportField& input : first.inputs) {
    const std::vector<FieldInfo> infos = field_infos(input.named(), input.channels());
    d.input.insert(d.input.end(), infos.begin(), infos.end());
  }
  if (first.time) d.time = first.time->times;
  if (options.initial == 0) return;
  if (!first.time || options.initial < 0 || options.initial >= std::ssize(d.time))
    fail_usage("importing the first frames as input",
               first.time ? fmt::format("--initial from 1 to {}", d.time.size() - 1) : "--time with --initial",
               std::to_string(options.initial), "frames that are input are no longer output");
  d.initial_time.assign(d.time.begin(), d.time.begin() + options.initial);
  d.time.erase(d.time.begin(), d.time.begin() + options.initial);
  for (const double time : d.initial_time) {
    for (const FieldInfo& field : d.output)
      d.input.push_back({fmt::format("{} at t={:g}", field.name, time), field.unit});
  }
}

SetDescription describe(const ArrayImport& options, const std::vector<ImportGroup>& groups,
                        const CoordinateSurvey* survey) {
  const ImportGroup& first = groups.front();
  SetDescription d;
  d.name = options.name;
  d.geometry = choose_geometry(options, first, survey);
  d.shape = first.output->ragged() ? Shape{1} : first.output->shape();
  const std::size_t axes = survey != nullptr ? static_cast<std::size_t>(first.coords->dims()) : d.shape.size();
  d.box = options.box;
  if (d.box.empty() && survey != nullptr) d.box = survey->box;
  for (std::size_t a = 0; a < axes && options.box.empty() && survey == nullptr; ++a)
    d.box.insert(d.box.end(), {0.0, 1.0});
  if (survey == nullptr || !options.box.empty()) check_box(d.box, axes);
  constexpr const char* kAxes[] = {"x", "y", "z"};
  if (survey != nullptr) d.coordinates = first.coords->fields();
  for (std::size_t a = d.coordinates.size(); a < axes; ++a) d.coordinates.push_back({a < 3 ? kAxes[a] : "w", "1"});
  mark_periodic(options, survey != nullptr ? survey->values : std::vector<float>(), d);
  name_fields(options, first, d);
  std::vector<std::string> sources;
  for (const ImportGroup& group : groups) {
    for (const std::string& origin : group.origins) {
      if (std::find(sources.begin(), sources.end(), origin) == sources.end()) sources.push_back(origin);
    }
  }
  nlohmann::json generator{{"program", "lano import"}, {"sources", sources}};
  if (options.shuffle) generator["shuffle"] = *options.shuffle;
  d.generator = generator.dump();
  return d;
}

// Puts the input of one sample together: fields, parameters, fields from other points, first frames.
class InputMaker {
 public:
  InputMaker(const ArrayImport& options, const SetDescription& d, const ImportGroup& group,
             std::span<const float> shared)
      : options_(options), d_(d), group_(group), shared_(shared) {}

  // coordinates [N, dims] of the sample; fields: the values of each input [.., channels]; frames [T, N, du].
  std::vector<float> make(std::int64_t row, std::span<const float> coordinates,
                          const std::vector<std::span<const float>>& fields, std::span<const float> frames) {
    const auto width = static_cast<std::size_t>(d_.input_channels());
    const std::size_t points = static_cast<std::size_t>(group_.output->points_of(row));
    std::vector<float> input(points * width);
    std::size_t column = 0;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const auto channels = static_cast<std::size_t>(group_.inputs[f].channels());
      std::vector<float> moved;
      std::span<const float> values = fields[f];
      if (group_.elsewhere(group_.inputs[f])) {
        moved = interpolate(plan(row, group_.inputs[f], coordinates), values, channels);
        values = moved;
      }
      const bool constant = values.size() == channels && points != 1;
      for (std::size_t p = 0; p < points; ++p) {
        for (std::size_t c = 0; c < channels; ++c)
          input[p * width + column + c] = values[(constant ? 0 : p) * channels + c];
      }
      column += channels;
    }
    const auto outputs = static_cast<std::size_t>(d_.output_channels());
    for (std::size_t frame = 0; frame < static_cast<std::size_t>(options_.initial); ++frame, column += outputs) {
      for (std::size_t p = 0; p < points; ++p) {
        for (std::size_t c = 0; c < outputs; ++c)
          input[p * width + column + c] = frames[(frame * points + p) * outputs + c];
      }
    }
    return input;
  }

  bool multilinear() const { return plan_.multilinear; }

 private:
  // One plan for all samples where neither the input's points nor the output's change.
  const InterpolationPlan& plan(std::int64_t row, const ImportField& input, std::span<const float> coordinates) {
    const bool fixed = !shared_.empty() && (group_.input_box || group_.input_coords->shared());
    if (plan_.per_point != 0 && (fixed || row == planned_)) return plan_;
    const auto dims = static_cast<std::size_t>(d_.dims());
    std::vector<float> from;
    if (group_.input_box) {
      if (input.shape().size() != dims)
        fail(input.doing(), fmt::format("an input of {} axes, as the grid has", dims), shape_text(input.shape()));
      from = grid_coordinates(input.shape(), options_.grid_points, d_.box);
    } else {
      if (group_.input_coords->dims() != d_.dims())
        fail(group_.input_coords->doing(), fmt::format("{} coordinates per point, as the output has", dims),
             std::to_string(group_.input_coords->dims()));
      from = group_.input_coords->read(row, 1);
    }
    const Shape shape = input.ragged() ? Shape{input.points_of(row)} : input.shape();
    plan_ = plan_interpolation(shape, from, shared_.empty() ? coordinates : shared_, dims);
    planned_ = row;
    return plan_;
  }

  const ArrayImport& options_;
  const SetDescription& d_;
  const ImportGroup& group_;
  std::span<const float> shared_;
  InterpolationPlan plan_;
  std::int64_t planned_ = -1;
};

// The values of sample i of a block of `count`.
std::span<const float> row_of(const std::vector<float>& block, std::int64_t i, std::int64_t count) {
  const std::size_t width = block.size() / static_cast<std::size_t>(count);
  return std::span(block).subspan(static_cast<std::size_t>(i) * width, width);
}

// What was made of inputs that are no fields on the output's points.
std::vector<std::string> tell_inputs(const ImportGroup& group, bool multilinear) {
  std::vector<std::string> said;
  for (const ImportField& input : group.inputs) {
    const std::string& name = input.named().name;
    if (group.elsewhere(input)) {
      said.push_back(fmt::format("note: input '{}' was interpolated to the output's points {}", name,
                                 multilinear ? "multilinearly" : "by inverse squared distances of its nearest points"));
    } else if (!input.ragged() && input.shape().empty()) {
      said.push_back(fmt::format(
          "note: input '{}' holds {} per sample, constant over its points", name,
          input.channels() == 1 ? std::string("one parameter") : fmt::format("{} parameters", input.channels())));
    }
  }
  return said;
}

void write_group(const ArrayImport& options, const SetDescription& d, const ImportGroup& group,
                 const std::vector<std::int64_t>& places, std::span<const float> shared, DatasetWriter& writer,
                 SplitCheck& check, CountedWork& work, std::vector<std::string>& said) {
  InputMaker maker(options, d, group, shared);
  std::int64_t at_once = group.output->at_once();
  for (const ImportField& input : group.inputs) at_once = std::min(at_once, input.at_once());
  const auto skip = static_cast<std::size_t>(options.initial);
  for (std::int64_t first = 0; first < group.output->samples(); first += at_once) {
    const std::int64_t count = std::min(at_once, group.output->samples() - first);
    const auto begin = places.begin() + first;
    if (std::all_of(begin, begin + count, [](std::int64_t place) { return place < 0; })) continue;
    const std::vector<float> output = group.output->read(first, count);
    std::vector<std::vector<float>> inputs;
    for (const ImportField& input : group.inputs) inputs.push_back(input.read(first, count));
    std::vector<float> coords;
    if (shared.empty()) coords = group.coords->read(first, count);
    const bool own_coords = shared.empty() && !group.coords->shared();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = begin[i];
      if (place < 0) continue;
      const std::span<const float> points = own_coords ? row_of(coords, i, count) : std::span<const float>(coords);
      std::vector<std::span<const float>> fields;
      for (const auto& block : inputs) fields.push_back(row_of(block, i, count));
      const std::span<const float> frames = row_of(output, i, count);
      const std::vector<float> input = maker.make(first + i, points, fields, frames);
      const std::size_t frame = frames.size() / static_cast<std::size_t>(group.output->frames());
      writer.write(place, points, input, frames.subspan(skip * frame));
      check.add(place, points, input, d.input_channels(), frames.subspan(skip * frame), d.output_channels());
    }
    work.advance(count);
  }
  if (said.empty()) said = tell_inputs(group, maker.multilinear());
}

// One array for all samples where every group brings the same, else those of each sample.
void write_cells(const std::vector<ImportGroup>& groups, const SplitPlan& plan, DatasetWriter& writer) {
  const ImportGroup& first = groups.front();
  const std::vector<std::int64_t> cells = first.cells->read(0, first.output->points_of(0));
  const bool shared = std::all_of(groups.begin(), groups.end(), [&](const ImportGroup& group) {
    return group.cells->shared() && group.cells->read(0, group.output->points_of(0)) == cells;
  });
  if (shared) {
    writer.make_cells(first.cells->kind(), first.cells->count_of(0));
    writer.write_cells(0, cells);
    return;
  }
  const auto each = [&](const auto& use) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::int64_t row = 0; row < groups[g].output->samples(); ++row) {
        const std::int64_t place = plan.places[g][static_cast<std::size_t>(row)];
        if (place >= 0) use(groups[g], row, place);
      }
    }
  };
  std::vector<std::int64_t> counts(plan.splits.size());
  each([&](const ImportGroup& group, std::int64_t row, std::int64_t place) {
    counts[static_cast<std::size_t>(place)] = group.cells->count_of(row);
  });
  writer.make_cells(first.cells->kind(), counts);
  each([&](const ImportGroup& group, std::int64_t row, std::int64_t place) {
    writer.write_cells(place, group.cells->read(row, group.output->points_of(row)));
  });
}

}  // namespace

std::int64_t import_arrays(const ArrayImport& options, const fs::path& out, Listener& listener) {
  const std::vector<ImportGroup> groups = open_import_groups(options);
  const ImportGroup& first = groups.front();
  std::optional<CoordinateSurvey> survey;
  if (first.coords) survey = survey_coordinates(groups);
  const SetDescription d = describe(options, groups, survey ? &*survey : nullptr);
  std::vector<float> shared;
  if (!survey) shared = grid_coordinates(d.shape, options.grid_points, d.box);
  if (survey && survey->shared) shared = survey->values;

  std::vector<SampleGroup> sizes;
  for (const ImportGroup& group : groups) sizes.push_back({group.output->samples(), group.split});
  const SplitPlan plan = plan_splits(options, sizes);
  std::optional<DatasetWriter> writer;
  if (first.output->ragged()) {
    std::vector<std::int64_t> counts(plan.splits.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::int64_t row = 0; row < groups[g].output->samples(); ++row) {
        const std::int64_t place = plan.places[g][static_cast<std::size_t>(row)];
        if (place >= 0) counts[static_cast<std::size_t>(place)] = groups[g].output->points_of(row);
      }
    }
    writer.emplace(out, d, plan.splits, counts);
  } else {
    writer.emplace(out, d, plan.splits, shared);
  }
  std::vector<std::string> names;
  for (const auto* fields : {&d.input, &d.output}) {
    for (const FieldInfo& field : *fields) names.push_back(field.name);
  }
  SplitCheck check(plan, names);
  std::vector<std::string> said;
  CountedWork work(listener, "importing", std::ssize(plan.splits), "samples");
  for (std::size_t g = 0; g < groups.size(); ++g)
    write_group(options, d, groups[g], plan.places[g], shared, *writer, check, work, said);
  work.finish();
  for (const std::string& line : said) listener.say(line);
  if (first.cells) write_cells(groups, plan, *writer);
  check.judge(options, listener);
  writer->commit();
  return std::ssize(plan.splits);
}

}  // namespace lano

#include "core/set_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/strict_json.h"

namespace lano {
namespace {

using nlohmann::json;

json list_to_json(const std::vector<FieldInfo>& fields) {
  json out = json::array();
  for (const FieldInfo& field : fields) out.push_back({{"name", field.name}, {"unit", field.unit}});
  return out;
}

std::vector<FieldInfo> list_from_json(const json& array) {
  std::vector<FieldInfo> fields;
  // Names go to terminals and pages as they are.
  const auto text = [](const json& value) { return plain_text(value.get_ref<const std::string&>(), 400); };
  for (const json& field : array) fields.push_back({text(field.at("name")), text(field.at("unit"))});
  return fields;
}

}  // namespace

json fields_to_json(const SetDescription& description) {
  json fields{{"coordinates", list_to_json(description.coordinates)},
              {"input", list_to_json(description.input)},
              {"output", list_to_json(description.output)}};
  if (!description.kept.empty()) fields["kept"] = list_to_json(description.kept);
  return fields;
}

void fields_from_json(const json& fields, SetDescription& description) {
  description.coordinates = list_from_json(fields.at("coordinates"));
  description.input = list_from_json(fields.at("input"));
  description.output = list_from_json(fields.at("output"));
  if (fields.contains("kept")) description.kept = list_from_json(fields.at("kept"));
}

json to_json(const SetDescription& description) {
  json out{{"name", description.name},
           {"geometry", std::string(geometry_name(description.geometry))},
           {"shape", description.shape},
           {"fields", fields_to_json(description)},
           {"box", description.box},
           {"time", description.time},
           {"generator", description.generator}};
  if (!description.channel_times.empty()) out["channel_times"] = description.channel_times;
  if (!description.initial_time.empty()) out["initial_time"] = description.initial_time;
  if (!description.span.empty()) out["span"] = description.span;
  if (!description.periodic.empty()) out["periodic"] = description.periodic;
  if (description.given_frames != 1) out["given_frames"] = description.given_frames;
  return out;
}

SetDescription set_description_from_json(const json& from) {
  SetDescription description;
  description.name = plain_text(from.at("name").get_ref<const std::string&>(), 400);
  description.geometry = parse_geometry(from.at("geometry").get<std::string>(), "reading the description of a dataset");
  description.shape = whole_numbers(from.at("shape"), "reading the description of a dataset", "shape");
  fields_from_json(from.at("fields"), description);
  description.box = from.at("box").get<std::vector<double>>();
  description.time = from.at("time").get<std::vector<double>>();
  if (from.contains("periodic")) description.periodic = from.at("periodic").get<std::vector<bool>>();
  if (!description.periodic.empty() && description.periodic.size() != description.shape.size())
    fail("reading the description of a dataset", "periodic with one flag per axis",
         std::to_string(description.periodic.size()));
  if (from.contains("channel_times")) {
    description.channel_times = from.at("channel_times").get<std::vector<double>>();
    const std::int64_t times = std::ssize(description.channel_times);
    if (times < 1 || !description.time.empty() || description.output_channels() % times != 0)
      fail("reading the description of a dataset", "channel_times of a steady dataset, with as many fields at each",
           fmt::format("{} times for {} output fields", times, description.output_channels()));
  }
  if (from.contains("initial_time")) description.initial_time = from.at("initial_time").get<std::vector<double>>();
  if (from.contains("span")) {
    description.span = from.at("span").get<std::vector<double>>();
    check_span(description, "reading the description of a dataset");
  }
  if (from.contains("given_frames"))
    description.given_frames =
        whole_number(from.at("given_frames"), "reading the description of a dataset", "given_frames");
  description.generator = from.at("generator");
  return description;
}

void check_span(const SetDescription& description, std::string_view doing) {
  const auto inside = [](double end) { return end > 0 && end <= 1; };
  const std::vector<double>& span = description.span;
  if (!span.empty() && (description.geometry != Geometry::mesh || span.size() != description.shape.size() ||
                        !std::all_of(span.begin(), span.end(), inside)))
    fail(doing, "a span of the mesh's axes, each above 0 and at most 1", std::to_string(span.size()) + " numbers",
         "make the file again");
}

std::vector<double> strided_span(const Shape& whole, const std::vector<double>& whole_span, std::int64_t stride) {
  std::vector<double> span;
  for (std::size_t a = 0; a < whole.size(); ++a) {
    const std::int64_t last = (whole[a] - 1) / stride * stride;
    const double end = whole_span.empty() ? 1 : whole_span[a];
    span.push_back(whole[a] > 1 && last > 0 ? end * static_cast<double>(last) / static_cast<double>(whole[a] - 1)
                                            : end);
  }
  const bool complete = std::all_of(span.begin(), span.end(), [](double end) { return end == 1; });
  return complete ? std::vector<double>{} : span;
}

std::vector<double> stretch_of(const SetDescription& trained, const Shape& mesh, const std::vector<double>& span) {
  if (trained.geometry != Geometry::mesh || (span.empty() && mesh == trained.shape)) return {};
  std::vector<double> ratio;
  for (std::size_t a = 0; a < mesh.size(); ++a)
    ratio.push_back((span.empty() ? 1 : span[a]) / (trained.span.empty() ? 1 : trained.span[a]));
  const bool same = std::all_of(ratio.begin(), ratio.end(), [](double r) { return r == 1; });
  return same ? std::vector<double>{} : ratio;
}

namespace {

std::string at_time(double time) { return fmt::format(" at t={:g}", time); }

}  // namespace

SetDescription times_as_channels(SetDescription set) {
  const std::vector<FieldInfo> fields = std::exchange(set.output, {});
  set.channel_times = std::exchange(set.time, {});
  for (const double time : set.channel_times) {
    for (const FieldInfo& field : fields) set.output.push_back({field.name + at_time(time), field.unit});
  }
  set.given_frames = 1;
  return set;
}

SetDescription channels_as_times(SetDescription set) {
  if (set.channel_times.empty()) return set;
  set.time = std::exchange(set.channel_times, {});
  set.output.resize(set.output.size() / set.time.size());
  const std::string first = at_time(set.time.front());
  for (FieldInfo& field : set.output) {
    if (field.name.ends_with(first)) field.name.resize(field.name.size() - first.size());
  }
  return set;
}

bool same_times(const std::vector<double>& some, const std::vector<double>& others) {
  if (some.size() != others.size()) return false;
  const double span = some.empty() ? 0 : std::abs(some.back() - some.front());
  for (std::size_t t = 0; t < some.size(); ++t) {
    if (std::abs(some[t] - others[t]) > 1e-6 * std::max(span, std::abs(some[t]))) return false;
  }
  return true;
}

bool input_is_first_state(const SetDescription& set) {
  if (set.time.empty() || set.input_channels() != set.output_channels() || set.given_frames != 1) return false;
  for (std::size_t c = 0; c < set.input.size(); ++c) {
    if (set.input[c].name != fmt::format("{} at t={:g}", set.output[c % set.output.size()].name, set.time.front()))
      return false;
  }
  return true;
}

namespace {

// Points from one index of an axis to the next.
std::vector<std::int64_t> strides(const Shape& shape) {
  std::vector<std::int64_t> stride(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) stride[a - 1] = stride[a] * shape[a];
  return stride;
}

}  // namespace

std::vector<std::int64_t> grid_corners(const Shape& shape) {
  const std::vector<std::int64_t> stride = strides(shape);
  std::vector<std::int64_t> points{0};
  for (std::size_t a = 0; a < shape.size(); ++a) points.push_back((shape[a] - 1) * stride[a]);
  return points;
}

bool uniform_grid_spacing(const Shape& shape, std::span<const float> corners, std::int64_t first,
                          std::span<const float> coordinates, std::vector<double>* spacing) {
  const std::size_t axes = shape.size();
  const std::vector<std::int64_t> stride = strides(shape);
  const auto origin = [&](std::size_t axis) { return static_cast<double>(corners[axis]); };
  std::vector<double> step(axes, 1.0), extent(axes, 0.0);
  for (std::size_t a = 0; a < axes; ++a) {
    if (shape[a] < 2) continue;
    extent[a] = static_cast<double>(corners[(a + 1) * axes + a]) - origin(a);
    step[a] = extent[a] / static_cast<double>(shape[a] - 1);
    if (!(step[a] > 0) || !std::isfinite(step[a])) return false;
  }
  // Float coordinates of a uniform grid stray from it by rounding only: 1e-5 of the extent is far above that and far
  // below any intended stretching.
  for (std::size_t i = 0; i < coordinates.size() / axes; ++i) {
    for (std::size_t a = 0; a < axes; ++a) {
      const auto index = static_cast<double>((first + static_cast<std::int64_t>(i)) / stride[a] % shape[a]),
                 at = static_cast<double>(coordinates[i * axes + a]);
      if (!(std::abs(at - (origin(a) + index * step[a])) <= 1e-5 * std::max(extent[a], 1e-30)))
        return false;  // NaN, too
    }
  }
  if (spacing != nullptr) *spacing = step;
  return true;
}

bool uniform_grid_spacing(const Shape& shape, std::span<const float> coordinates, std::vector<double>* spacing) {
  const std::size_t axes = shape.size();
  if (coordinates.size() != static_cast<std::size_t>(element_count(shape)) * axes || coordinates.empty())
    return false;  // axes and coordinates differ
  std::vector<float> corners;
  for (const std::int64_t point : grid_corners(shape)) {
    const auto from = coordinates.begin() + static_cast<std::ptrdiff_t>(point) * static_cast<std::ptrdiff_t>(axes);
    corners.insert(corners.end(), from, from + static_cast<std::ptrdiff_t>(axes));
  }
  return uniform_grid_spacing(shape, corners, 0, coordinates, spacing);
}

std::vector<double> bounds(std::span<const float> coordinates, std::int64_t dims) {
  const auto axes = static_cast<std::size_t>(dims);
  std::vector<double> box(2 * axes);
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const std::size_t a = i % axes;
    const double x = coordinates[i];
    if (i < axes || x < box[2 * a]) box[2 * a] = x;
    if (i < axes || x > box[2 * a + 1]) box[2 * a + 1] = x;
  }
  return box;
}

}  // namespace lano

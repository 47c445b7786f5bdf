// A trained operator on the arrays of one sample. The interpreter lock is released while it computes.
#include "runtime/operator.h"

#include <nlohmann/json.hpp>

#include "bindings.h"
#include "core/error.h"

namespace lano::python {
namespace {

// [mesh..., channels], or [mesh...] for one channel: the shape without the channels.
Shape points_shape(const Array& array, std::int64_t channels, const char* what) {
  Shape shape(array.shape(), array.shape() + array.ndim());
  if (!shape.empty() && shape.back() == channels && (channels != 1 || shape.size() > 1)) {
    shape.pop_back();
  } else if (channels != 1) {
    fail_usage("predicting", std::string(what) + " with " + std::to_string(channels) + " channels in the last axis",
               shape_text(shape));
  }
  return shape;
}

// The points of a call as the operator wants them; the arrays must outlive it.
struct Points {
  Shape shape;
  std::span<const float> coordinates, input;
  Operator::Call call;
};

// The values of an array that must have these points in this order, and its channels.
std::span<const float> values_at(const Array& array, const Shape& points, std::int64_t channels, const char* what) {
  const Shape found = points_shape(array, channels, what);
  const bool flat = found.size() == 1 || points.size() == 1;  // points in one row fit any mesh
  if (element_count(found) != element_count(points) || (!flat && found != points)) {
    fail_usage("predicting", std::string(what) + " at points of shape " + shape_text(points), shape_text(found));
  }
  return values(array);
}

// [points..., channels], of several frames [frames, points..., channels], oldest first.
std::span<const float> state_values(const Array& state, Shape points, const SetDescription& set, std::int64_t frames) {
  if (frames > 1) points.insert(points.begin(), frames);
  return values_at(state, points, set.output_channels(), "state");
}

Points points_of(const Operator& op, const std::optional<Array>& coordinates, const std::optional<Array>& input,
                 std::optional<double> time, const std::optional<Array>& state) {
  const SetDescription& set = op.set();
  Points points;
  points.shape = set.geometry == Geometry::points
                     ? Shape{static_cast<std::int64_t>(op.coordinates().size()) / set.dims()}
                     : set.shape;
  if (coordinates) {
    points.shape = points_shape(*coordinates, set.dims(), "coordinates");
  } else if (input && set.input_channels() > 0) {
    points.shape = points_shape(*input, set.input_channels(), "input");
  }
  // Points in one row are a cloud, or the training mesh row by row; else the axes are those of the array.
  const bool flat = points.shape.size() == 1 && set.shape.size() != 1;
  if (set.geometry != Geometry::points && !flat) points.call.mesh = points.shape;
  if (op.task() == Task::time_conditional && !time)
    fail_usage_plainly("predicting", "this model is conditioned on time", "pass time=");
  if (op.task() == Task::autoregressive && !state)
    fail_usage_plainly("predicting", "this model needs a state to step from", "pass state=");
  if (state && op.task() != Task::autoregressive)
    fail_usage_plainly("predicting", "this model does not step in time", "leave out state=");
  points.call.time = time.value_or(0);
  if (state) points.call.state = state_values(*state, points.shape, set, op.state_frames());
  points.coordinates = coordinates ? values(*coordinates) : std::span<const float>(op.coordinates());
  if (input && set.input_channels() == 0)
    fail_usage_plainly("predicting", "this model has no input fields", "leave out the input");
  if (input) points.input = values_at(*input, points.shape, set.input_channels(), "input");
  return points;
}

Array output_like(Shape shape, std::int64_t channels) {
  shape.push_back(channels);
  return Array(std::vector<py::ssize_t>(shape.begin(), shape.end()));
}

// [times, mesh..., channels]
Array predict_times(const Operator& op, const std::optional<Array>& coordinates, const std::optional<Array>& input,
                    const std::vector<double>& times) {
  if (op.task() != Task::time_conditional)
    fail_usage_plainly("predicting", "this model is not conditioned on time", "leave out times=");
  if (times.empty()) fail_usage_plainly("predicting", "times is empty", "give at least one time");
  const Points points = points_of(op, coordinates, input, times.front(), std::nullopt);
  Shape shape = points.shape;
  shape.insert(shape.begin(), std::ssize(times));
  Array output = output_like(shape, op.set().output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  const py::gil_scoped_release free;
  op.predict_times(points.coordinates, points.input, times, to, points.call);
  return output;
}

Array predict(const Operator& op, const std::optional<Array>& coordinates, const std::optional<Array>& input,
              std::optional<double> time, const std::optional<Array>& state,
              const std::optional<std::vector<double>>& times) {
  if (times && (time || state))
    fail_usage_plainly("predicting", std::string("times= does not go with ") + (time ? "time=" : "state="),
                       "leave one of them out");
  if (times) return predict_times(op, coordinates, input, *times);
  const Points points = points_of(op, coordinates, input, time, state);
  Array output = output_like(points.shape, op.set().output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  const py::gil_scoped_release free;
  op.predict(points.coordinates, points.input, to, points.call);
  return output;
}

// [steps, mesh..., channels]
Array roll_out(const Operator& op, const Array& state, std::int64_t steps, const std::optional<Array>& coordinates,
               const std::optional<Array>& input) {
  const Points points = points_of(op, coordinates, input, std::nullopt, state);
  if (steps < 1) fail_usage("rolling out an operator", "at least one step", std::to_string(steps));
  Shape shape = points.shape;
  shape.insert(shape.begin(), steps);
  Array output = output_like(shape, op.set().output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  const py::gil_scoped_release free;
  op.roll_out(points.coordinates, points.input, steps, to, points.call);
  return output;
}

Prepared prepare(const Operator& op, const std::optional<Array>& coordinates, const std::optional<Array>& input,
                 std::optional<double> time, const std::optional<Array>& state) {
  const Points points = points_of(op, coordinates, input, time, state);
  const py::gil_scoped_release free;
  return op.prepare(points.coordinates, points.input, points.call);
}

Array decode(const Prepared& prepared, const Array& coordinates, const std::optional<Array>& input,
             const std::optional<Array>& state) {
  const SetDescription& set = prepared.set();
  const Shape points = points_shape(coordinates, set.dims(), "coordinates");
  Array output = output_like(points, set.output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  std::span<const float> x = values(coordinates), a, s;
  if (input) a = values_at(*input, points, set.input_channels(), "input");
  if (state) s = state_values(*state, points, set, prepared.state_frames());
  const py::gil_scoped_release free;
  prepared.decode(x, a, to, s);
  return output;
}

// Slopes of coordinates, input and state, shaped as the arrays given.
py::tuple vjp(const Operator& op, const Array& slopes, const std::optional<Array>& coordinates,
              const std::optional<Array>& input, std::optional<double> time, const std::optional<Array>& state) {
  const Points points = points_of(op, coordinates, input, time, state);
  const std::span<const float> given =
      values_at(slopes, points.shape, op.set().output_channels(), "slopes of the output");
  Operator::Slopes found;
  {
    const py::gil_scoped_release free;
    found = op.vjp(points.coordinates, points.input, given, points.call);
  }
  const auto shaped = [](const std::vector<float>& from, const std::vector<py::ssize_t>& shape) {
    Array array(shape);
    std::copy(from.begin(), from.end(), array.mutable_data());
    return array;
  };
  const auto like = [&](const std::vector<float>& from, Shape shape, std::int64_t channels) {
    shape.push_back(channels);
    return shaped(from, std::vector<py::ssize_t>(shape.begin(), shape.end()));
  };
  Shape frames = points.shape;
  if (op.state_frames() > 1) frames.insert(frames.begin(), op.state_frames());
  return py::make_tuple(
      like(found.coordinates, points.shape, op.set().dims()),
      like(found.input, points.shape, op.set().input_channels()),
      op.state_frames() > 0 ? py::object(like(found.state, frames, op.set().output_channels())) : py::none());
}

py::bytes to_bytes(const Operator& op) { return py::bytes(format_model_file(op.file())); }

Operator from_bytes(const py::bytes& bytes) {
  return Operator(parse_model_file(static_cast<std::string_view>(bytes), "reading a model from bytes"));
}

const char* task_name(const Operator& op) {
  return op.task() == Task::steady           ? "steady"
         : op.task() == Task::autoregressive ? "autoregressive"
                                             : "time_conditional";
}

Array coordinates_of(const Operator& op) {
  const auto dims = static_cast<py::ssize_t>(op.set().dims());
  return Array({static_cast<py::ssize_t>(op.coordinates().size()) / dims, dims}, op.coordinates().data());
}

}  // namespace

void bind_operator(py::module_& module) {
  py::class_<Prepared>(module, "Prepared")
      .def("decode", &decode, py::arg("coordinates"), py::arg("input") = py::none(), py::kw_only(),
           py::arg("state") = py::none());
  py::class_<Operator>(module, "Operator")
      .def_static("load", [](const std::string& path) { return Operator::load(path); })
      .def_static("from_bytes", &from_bytes)
      .def("to_bytes", &to_bytes)
      .def("save", [](const Operator& op, const std::string& path) { write_model_file(path, op.file()); })
      .def("prepare", &prepare, py::arg("coordinates") = py::none(), py::arg("input") = py::none(), py::kw_only(),
           py::arg("time") = py::none(), py::arg("state") = py::none())
      .def("predict", &predict, py::arg("coordinates") = py::none(), py::arg("input") = py::none(), py::kw_only(),
           py::arg("time") = py::none(), py::arg("state") = py::none(), py::arg("times") = py::none())
      .def("roll_out", &roll_out, py::arg("state"), py::arg("steps"), py::arg("coordinates") = py::none(),
           py::arg("input") = py::none())
      .def("vjp", &vjp, py::arg("slopes"), py::arg("coordinates") = py::none(), py::arg("input") = py::none(),
           py::kw_only(), py::arg("time") = py::none(), py::arg("state") = py::none())
      .def("use_agents", &Operator::use_agents)
      .def_property_readonly("coordinates", &coordinates_of)
      .def_property_readonly("description", [](const Operator& op) { return to_json(op.set()).dump(); })
      .def_property_readonly("provenance", [](const Operator& op) { return op.file().provenance.dump(); })
      .def_property_readonly("parameters", &Operator::parameter_count)
      .def_property_readonly("state_frames", &Operator::state_frames)
      .def_property_readonly("agents", &Operator::agents)
      .def_property_readonly("task", &task_name);
}

}  // namespace lano::python

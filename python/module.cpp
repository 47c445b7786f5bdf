// The Python module `lano`: a trained operator on NumPy arrays. The interpreter lock is released while it computes.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "core/error.h"
#include "core/threads.h"
#include "core/version.h"
#include "runtime/operator.h"

namespace py = pybind11;

namespace {

using Array = py::array_t<float, py::array::c_style | py::array::forcecast>;

std::vector<std::string> names(const std::vector<lano::FieldInfo>& fields) {
  std::vector<std::string> all;
  for (const lano::FieldInfo& field : fields) all.push_back(field.name);
  return all;
}

std::span<const float> values(const Array& array) { return {array.data(), static_cast<std::size_t>(array.size())}; }

// [mesh..., channels], or [mesh...] for one channel: the shape without the channels.
lano::Shape points_shape(const Array& array, std::int64_t channels, const char* what) {
  lano::Shape shape(array.shape(), array.shape() + array.ndim());
  if (!shape.empty() && shape.back() == channels && (channels != 1 || shape.size() > 1)) {
    shape.pop_back();
  } else if (channels != 1) {
    lano::fail_usage("predicting",
                     std::string(what) + " with " + std::to_string(channels) + " channels in the last axis",
                     lano::shape_text(shape));
  }
  return shape;
}

// The points of a call as the operator wants them; the arrays must outlive it.
struct Points {
  lano::Shape shape;
  std::span<const float> coordinates, input;
  lano::Operator::Call call;
};

// The values of an array that must have these points in this order, and its channels.
std::span<const float> values(const Array& array, const lano::Shape& points, std::int64_t channels, const char* what) {
  const lano::Shape found = points_shape(array, channels, what);
  const bool flat = found.size() == 1 || points.size() == 1;  // points in one row fit any mesh
  if (lano::element_count(found) != lano::element_count(points) || (!flat && found != points)) {
    lano::fail_usage("predicting", std::string(what) + " at points of shape " + lano::shape_text(points),
                     lano::shape_text(found));
  }
  return values(array);
}

// [points..., channels], of several frames [frames, points..., channels], oldest first.
std::span<const float> state_values(const Array& state, lano::Shape points, const lano::SetDescription& set,
                                    std::int64_t frames) {
  if (frames > 1) points.insert(points.begin(), frames);
  return values(state, points, set.output_channels(), "state");
}

Points points_of(const lano::Operator& op, const std::optional<Array>& coordinates, const std::optional<Array>& input,
                 std::optional<double> time, const std::optional<Array>& state) {
  const lano::SetDescription& set = op.set();
  Points points;
  points.shape = set.geometry == lano::Geometry::points
                     ? lano::Shape{static_cast<std::int64_t>(op.coordinates().size()) / set.dims()}
                     : set.shape;
  if (coordinates) {
    points.shape = points_shape(*coordinates, set.dims(), "coordinates");
  } else if (input && set.input_channels() > 0) {
    points.shape = points_shape(*input, set.input_channels(), "input");
  }
  // Points in one row are a cloud, or the training mesh row by row; else the axes are those of the array.
  const bool flat = points.shape.size() == 1 && set.shape.size() != 1;
  if (set.geometry != lano::Geometry::points && !flat) points.call.mesh = points.shape;
  if (op.task() == lano::Task::time_conditional && !time)
    lano::fail_usage("predicting", "a time: this model is conditioned on it", "none");
  if (op.task() == lano::Task::autoregressive && !state) lano::fail_usage("predicting", "a state to step from", "none");
  if (state && op.task() != lano::Task::autoregressive)
    lano::fail_usage("predicting", "no state: this model does not step", "one");
  points.call.time = time.value_or(0);
  if (state) points.call.state = state_values(*state, points.shape, set, op.state_frames());
  points.coordinates = coordinates ? values(*coordinates) : std::span<const float>(op.coordinates());
  if (input && set.input_channels() == 0)
    lano::fail_usage("predicting", "no input: this model has none",
                     lano::shape_text({input->shape(), input->shape() + input->ndim()}));
  if (input) points.input = values(*input, points.shape, set.input_channels(), "input");
  return points;
}

Array output_like(lano::Shape shape, std::int64_t channels) {
  shape.push_back(channels);
  return Array(std::vector<py::ssize_t>(shape.begin(), shape.end()));
}

// [times, mesh..., channels]
Array predict_times(const lano::Operator& op, const std::optional<Array>& coordinates,
                    const std::optional<Array>& input, const std::vector<double>& times) {
  if (op.task() != lano::Task::time_conditional)
    lano::fail_usage("predicting", "no times: this model is not conditioned on time", "some");
  if (times.empty()) lano::fail_usage("predicting", "at least one time", "none");
  const Points points = points_of(op, coordinates, input, times.front(), std::nullopt);
  lano::Shape shape = points.shape;
  shape.insert(shape.begin(), std::ssize(times));
  Array output = output_like(shape, op.set().output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  const py::gil_scoped_release free;
  op.predict_times(points.coordinates, points.input, times, to, points.call);
  return output;
}

Array predict(const lano::Operator& op, const std::optional<Array>& coordinates, const std::optional<Array>& input,
              std::optional<double> time, const std::optional<Array>& state,
              const std::optional<std::vector<double>>& times) {
  if (times && (time || state))
    lano::fail_usage("predicting", "times alone", time ? "a time as well" : "a state as well");
  if (times) return predict_times(op, coordinates, input, *times);
  const Points points = points_of(op, coordinates, input, time, state);
  Array output = output_like(points.shape, op.set().output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  const py::gil_scoped_release free;
  op.predict(points.coordinates, points.input, to, points.call);
  return output;
}

// [steps, mesh..., channels]
Array roll_out(const lano::Operator& op, const Array& state, std::int64_t steps,
               const std::optional<Array>& coordinates, const std::optional<Array>& input) {
  const Points points = points_of(op, coordinates, input, std::nullopt, state);
  if (steps < 1) lano::fail_usage("rolling out an operator", "at least one step", std::to_string(steps));
  lano::Shape shape = points.shape;
  shape.insert(shape.begin(), steps);
  Array output = output_like(shape, op.set().output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  const py::gil_scoped_release free;
  op.roll_out(points.coordinates, points.input, steps, to, points.call);
  return output;
}

lano::Prepared prepare(const lano::Operator& op, const std::optional<Array>& coordinates,
                       const std::optional<Array>& input, std::optional<double> time,
                       const std::optional<Array>& state) {
  const Points points = points_of(op, coordinates, input, time, state);
  const py::gil_scoped_release free;
  return op.prepare(points.coordinates, points.input, points.call);
}

Array decode(const lano::Prepared& prepared, const Array& coordinates, const std::optional<Array>& input,
             const std::optional<Array>& state) {
  const lano::SetDescription& set = prepared.set();
  const lano::Shape points = points_shape(coordinates, set.dims(), "coordinates");
  Array output = output_like(points, set.output_channels());
  const std::span<float> to(output.mutable_data(), static_cast<std::size_t>(output.size()));
  std::span<const float> x = values(coordinates), a, s;
  if (input) a = values(*input, points, set.input_channels(), "input");
  if (state) s = state_values(*state, points, set, prepared.state_frames());
  const py::gil_scoped_release free;
  prepared.decode(x, a, to, s);
  return output;
}

}  // namespace

PYBIND11_MODULE(lano, module) {
  module.doc() = "LANO: trained neural operators on NumPy arrays";
  module.attr("__version__") = lano::kVersion;
  py::register_exception<lano::Error>(module, "Error", PyExc_RuntimeError);
  module.def("set_threads", &lano::set_thread_count, py::arg("count"),
             "threads of a call, whichever thread makes it; 0: OMP_NUM_THREADS or all cores");
  module.def(
      "load", [](const std::string& path) { return lano::Operator::load(path); }, py::arg("path"),
      "a model file (.safetensors)");
  py::class_<lano::Prepared>(module, "Prepared")
      .def("decode", &decode, py::arg("coordinates"), py::arg("input") = py::none(), py::kw_only(),
           py::arg("state") = py::none(),
           "query points [..., dims] and their input [..., channels] -> output [..., channels]");
  py::class_<lano::Operator>(module, "Operator")
      .def("prepare", &prepare, py::arg("coordinates") = py::none(), py::arg("input") = py::none(), py::kw_only(),
           py::arg("time") = py::none(), py::arg("state") = py::none(),
           "computes the agents of these points once; new points are then decoded against them")
      .def("predict", &predict, py::arg("coordinates") = py::none(), py::arg("input") = py::none(), py::kw_only(),
           py::arg("time") = py::none(), py::arg("state") = py::none(), py::arg("times") = py::none(),
           "coordinates [mesh..., dims] (None: the training grid), input [mesh..., channels] -> output [mesh..., "
           "channels]; time-conditional models take time=, or times= for [times, mesh..., channels], autoregressive "
           "ones state= and give the next state")
      .def("roll_out", &roll_out, py::arg("state"), py::arg("steps"), py::arg("coordinates") = py::none(),
           py::arg("input") = py::none(),
           "autoregressive models: all states [steps, mesh..., channels] that follow from this one")
      .def("use_agents", &lano::Operator::use_agents, py::arg("agents"))
      .def_property_readonly(
          "coordinates",
          [](const lano::Operator& op) {
            const auto dims = static_cast<py::ssize_t>(op.set().dims());
            return Array({static_cast<py::ssize_t>(op.coordinates().size()) / dims, dims}, op.coordinates().data());
          },
          "[points, dims] of the training grid; empty where each sample had its own")
      .def_property_readonly("mesh",
                             [](const lano::Operator& op) {
                               return op.set().geometry == lano::Geometry::points ? lano::Shape{} : op.set().shape;
                             })
      .def_property_readonly("input", [](const lano::Operator& op) { return names(op.set().input); })
      .def_property_readonly("output", [](const lano::Operator& op) { return names(op.set().output); })
      .def_property_readonly(
          "times", [](const lano::Operator& op) { return op.set().time; }, "of the training data; empty where steady")
      .def_property_readonly("parameters", &lano::Operator::parameter_count)
      .def_property_readonly("state_frames", &lano::Operator::state_frames)
      .def_property_readonly("agents", &lano::Operator::agents)
      .def_property_readonly("task", [](const lano::Operator& op) {
        return op.task() == lano::Task::steady           ? "steady"
               : op.task() == lano::Task::autoregressive ? "autoregressive"
                                                         : "time_conditional";
      });
}

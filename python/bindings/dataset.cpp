// Errors, and datasets in memory: NumPy arrays with a description (the JSON of core/set_description.h).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bindings.h"
#include "core/error.h"
#include "core/strict_json.h"

namespace lano::python {
namespace {

HeldDataset make_dataset(const std::string& description, const std::vector<int>& splits,
                         const std::vector<std::int64_t>& counts, bool shared, const Array& coordinates,
                         const Array& input, const std::optional<Array>& output) {
  constexpr const char* kDoing = "making a dataset";
  auto made = std::make_shared<MemoryDataset>();
  try {
    made->description = set_description_from_json(parse_json(description, kDoing, "its description"));
  } catch (const nlohmann::json::exception& error) {
    fail_usage(kDoing, "a description of its fields", json_reason(error));
  }
  for (const int split : splits) {
    if (split < 0 || split > 2)
      fail_usage(kDoing, "splits 0 (train), 1 (validation) or 2 (test)", std::to_string(split));
    made->splits.push_back(static_cast<Split>(split));
  }
  made->counts = counts;
  made->shared_coordinates = shared;
  made->coordinates = values(coordinates);
  made->input = values(input);
  if (output) made->output = values(*output);
  made->owner = keep(py::make_tuple(coordinates, input, output ? py::object(*output) : py::none()));
  (void)DatasetReader(made);  // fails if sizes and description do not agree
  return {made};
}

// Of a grid: whether the points [N, dims] rise uniformly along each axis.
bool is_uniform(const Array& coordinates, const Shape& shape) {
  return uniform_grid_spacing(shape, values(coordinates), nullptr);
}

}  // namespace

std::shared_ptr<const void> keep(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* held) {
            const py::gil_scoped_acquire lock;
            delete held;
          }};
}

void bind_errors(py::module_& module) { py::register_exception<Error>(module, "Error", PyExc_RuntimeError); }

void borrow_errors(const py::object& error) {
  static PyObject* type = nullptr;
  type = error.inc_ref().ptr();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& caught) {
      PyErr_SetString(type, caught.what());
    }
  });
}

void bind_dataset(py::module_& module) {
  // Each module has its own: what is made by one is used by it alone.
  py::class_<HeldDataset>(module, "Dataset", py::module_local())
      .def(py::init(&make_dataset), py::arg("description"), py::arg("splits"), py::arg("counts"), py::arg("shared"),
           py::arg("coordinates"), py::arg("input"), py::arg("output"));
  module.def("make_splits", [](std::int64_t train, std::int64_t test, double share) {
    std::vector<int> codes;
    for (const Split split : make_splits(train, test, share)) codes.push_back(static_cast<int>(split));
    return codes;
  });
  module.def("is_uniform", &is_uniform);
}

}  // namespace lano::python

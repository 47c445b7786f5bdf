// The parts of the extension modules. `lano._core` needs NumPy and nothing else: operators, training and evaluation on
// arrays in memory. `lano_solvers._solvers` has what needs HDF5 and FFTW besides, and training once more, on files.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <span>

#include "core/set_description.h"
#include "data/dataset.h"

namespace lano::python {

namespace py = pybind11;

// Any array that NumPy can make one of float32 in C's order of; a copy where it is another.
using Array = py::array_t<float, py::array::c_style | py::array::forcecast>;

inline std::span<const float> values(const Array& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

// A dataset in memory, with the arrays it lies in.
struct HeldDataset {
  std::shared_ptr<const MemoryDataset> arrays;
};

void bind_errors(py::module_& module);        // Error, made here
void borrow_errors(const py::object& error);  // the same class, made by another module
void bind_dataset(py::module_& module);
void bind_operator(py::module_& module);
void bind_evaluation(py::module_& module);
void bind_training(py::module_& module);

// Python objects that live as long as C++ wants them, whichever thread lets them go.
std::shared_ptr<const void> keep(py::object object);

}  // namespace lano::python

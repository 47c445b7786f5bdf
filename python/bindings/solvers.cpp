// The module lano_solvers._solvers: what needs HDF5 or FFTW. Dataset files read and written, training on them, and the
// solvers of the benchmarks on a user's own coefficient.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bindings.h"
#include "core/error.h"
#include "core/version.h"
#include "pde/burgers_solver.h"
#include "pde/darcy_solver.h"

namespace lano::python {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

Array copied(const std::vector<float>& values) {
  Array array(static_cast<py::ssize_t>(values.size()));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

// The whole file as flat arrays; Python gives them their shapes.
py::dict read_dataset(const std::string& path) {
  Samples samples;
  std::vector<float> kept;
  std::vector<std::vector<std::int64_t>> cells;
  std::optional<DatasetReader> reader;
  {
    const py::gil_scoped_release free;
    reader.emplace(path);
    samples = reader->read(reader->indices("all"));
    for (std::int64_t id = 0; id < reader->size(); ++id) {
      const std::vector<float> one = reader->read_kept(id);
      kept.insert(kept.end(), one.begin(), one.end());
      if (reader->cell_kind() && (id == 0 || !reader->shared_cells())) cells.push_back(reader->read_cells(id));
    }
  }
  std::vector<int> splits;
  for (const Split split : reader->splits()) splits.push_back(static_cast<int>(split));
  py::dict all;
  all["description"] = to_json(reader->description()).dump();
  all["splits"] = splits;
  all["counts"] = reader->counts();
  all["shared"] = reader->shared_coordinates();
  all["coordinates"] = copied(samples.coordinates);
  all["input"] = copied(samples.input);
  all["output"] = reader->has_output() ? py::object(copied(samples.output)) : py::none();
  all["kept"] = copied(kept);
  all["cell_kind"] =
      reader->cell_kind() ? py::object(py::str(std::string(cell_kind_name(*reader->cell_kind())))) : py::none();
  all["cells"] = cells;
  return all;
}

void write_dataset(const std::string& path, const HeldDataset& dataset, const Array& kept,
                   const std::optional<std::string>& cell_kind, const std::vector<std::vector<std::int64_t>>& cells) {
  const py::gil_scoped_release free;
  const DatasetReader reader(dataset.arrays);
  const SetDescription& d = reader.description();
  const bool ragged = !reader.counts().empty();
  const std::vector<float> shared =
      reader.shared_coordinates() ? reader.read(std::vector<std::int64_t>{0}).coordinates : std::vector<float>{};
  const auto writer = ragged
                          ? std::make_unique<DatasetWriter>(path, d, reader.splits(), reader.counts())
                          : std::make_unique<DatasetWriter>(path, d, reader.splits(), std::span<const float>(shared));
  if (cell_kind && !cells.empty()) {
    const std::optional<CellKind> kind = parse_cell_kind(*cell_kind);
    if (!kind) fail_usage("writing cells", "a kind of cells", fmt::format("'{}'", *cell_kind));
    const auto count = [&](std::size_t i) { return std::ssize(cells[i]) / cell_corners(*kind); };
    if (cells.size() == 1) {
      writer->make_cells(*kind, count(0));
    } else {
      std::vector<std::int64_t> counts;
      for (std::size_t i = 0; i < cells.size(); ++i) counts.push_back(count(i));
      writer->make_cells(*kind, counts);
    }
    for (std::size_t i = 0; i < cells.size(); ++i) writer->write_cells(static_cast<std::int64_t>(i), cells[i]);
  }
  const auto rows = static_cast<std::size_t>(d.points() * d.kept_channels());
  for (std::int64_t id = 0; id < reader.size(); ++id) {
    const Samples one = reader.read(std::vector<std::int64_t>{id});
    const std::span<const float> further =
        rows == 0 ? std::span<const float>() : values(kept).subspan(static_cast<std::size_t>(id) * rows, rows);
    writer->write(id, shared.empty() ? std::span<const float>(one.coordinates) : std::span<const float>(), one.input,
                  one.output, further);
  }
  writer->commit();
}

std::int64_t square(const Doubles& field, const char* what) {
  if (field.ndim() != 2 || field.shape(0) != field.shape(1) || field.shape(0) < 2)
    fail_usage("solving a problem", fmt::format("{} [n, n] on a square grid of at least 2 points per axis", what),
               shape_text({field.shape(), field.shape() + field.ndim()}));
  return field.shape(0);
}

std::span<const double> values(const Doubles& array) { return {array.data(), static_cast<std::size_t>(array.size())}; }

void check_finite(const Doubles& field, const char* what) {
  const std::span<const double> all = values(field);
  if (!std::all_of(all.begin(), all.end(), [](double value) { return std::isfinite(value); }))
    fail_usage_plainly("solving a problem", fmt::format("{} has values that are not finite", what));
}

// -div(a grad u) = f at the cell centres of the unit square, u = 0 on its boundary.
Doubles solve_darcy(const Doubles& coefficient, const Doubles& source, double tolerance) {
  const std::int64_t n = square(coefficient, "a coefficient");
  if (source.ndim() != 2 || source.shape(0) != n || source.shape(1) != n)
    fail_usage("solving darcy", fmt::format("a source [{}, {}]", n, n),
               shape_text({source.shape(), source.shape() + source.ndim()}));
  check_finite(source, "the source");
  Doubles u({n, n});
  const std::span<double> to(u.mutable_data(), static_cast<std::size_t>(u.size()));
  const py::gil_scoped_release free;
  DarcySolver(n).solve(values(coefficient), values(source), to, tolerance);
  return u;
}

// Velocities [2, n, n], periodic on the unit square, after each of `frames` times `interval`: [frames, 2, n, n].
Doubles solve_burgers(const Doubles& velocity, double viscosity, double interval, std::int64_t frames,
                      std::int64_t steps) {
  if (velocity.ndim() != 3 || velocity.shape(0) != 2 || velocity.shape(1) != velocity.shape(2) || velocity.shape(1) < 4)
    fail_usage("solving burgers", "velocities [2, n, n] on at least 4 points per axis",
               shape_text({velocity.shape(), velocity.shape() + velocity.ndim()}));
  if (!(viscosity > 0) || !(interval > 0) || frames < 1 || steps < 1)
    fail_usage("solving burgers", "a viscosity and an interval above 0, and at least one frame and one step",
               fmt::format("{}, {}, {} and {}", viscosity, interval, frames, steps));
  check_finite(velocity, "the velocities");
  const std::int64_t n = velocity.shape(1);
  const auto field = static_cast<std::size_t>(n * n);
  Doubles found({frames, std::int64_t{2}, n, n});
  double* at = found.mutable_data();
  std::vector<double> u(velocity.data(), velocity.data() + field),
      v(velocity.data() + field, velocity.data() + 2 * field);
  const py::gil_scoped_release free;
  const BurgersSolver solver(n, viscosity);
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    solver.advance(u, v, interval, steps);
    at = std::copy(u.begin(), u.end(), at);
    at = std::copy(v.begin(), v.end(), at);
  }
  return found;
}

}  // namespace

PYBIND11_MODULE(_solvers, module) {
  module.attr("__version__") = kVersion;
  borrow_errors(py::module_::import("lano._core").attr("Error"));
  bind_dataset(module);
  module.def("read_dataset", &read_dataset);
  module.def("write_dataset", &write_dataset);
  module.def("solve_darcy", &solve_darcy);
  module.def("solve_burgers", &solve_burgers);
  bind_training(module);
}

}  // namespace lano::python

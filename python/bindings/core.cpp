// The module lano._core: what needs NumPy and nothing else.
#include "bindings.h"
#include "core/threads.h"
#include "core/version.h"

namespace lano::python {

PYBIND11_MODULE(_core, module) {
  module.attr("__version__") = kVersion;
  module.def("set_threads", [](int count) {
    check_thread_count(count);
    set_thread_count(count);
  });
  module.def("thread_count", &thread_count);
  bind_errors(module);
  bind_dataset(module);
  bind_operator(module);
  bind_evaluation(module);
  bind_training(module);
}

}  // namespace lano::python

#include "core/threads.h"

#include <dlfcn.h>
#include <link.h>
#include <omp.h>

#include <algorithm>
#include <string_view>

namespace lano {

int thread_count() { return omp_get_max_threads(); }

void set_thread_count(int count) {
  if (count > 0) omp_set_num_threads(count);
}

std::vector<BlasLibrary> loaded_openblas() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
        const auto slash = path.rfind('/');
        const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
        if (name.find("openblas") != std::string_view::npos) static_cast<std::vector<std::string>*>(out)->emplace_back(path);
        return 0;
      },
      &paths);
  std::vector<BlasLibrary> found;
  for (const std::string& path : paths) {
    BlasLibrary library{path, "unknown"};
    if (void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      // A POSIX dlsym result is meant to be converted like this.
      if (auto* ask = reinterpret_cast<int (*)()>(dlsym(handle, "openblas_get_parallel"))) {
        const int parallel = ask();
        library.kind = parallel == 2 ? "OpenMP" : parallel == 1 ? "pthread" : "sequential";
      }
      dlclose(handle);
    }
    found.push_back(std::move(library));
  }
  return found;
}

std::vector<BlasLibrary> foreign_pools() {
  std::vector<BlasLibrary> found = loaded_openblas();
  std::erase_if(found, [](const BlasLibrary& library) { return library.kind == "OpenMP" || library.kind == "sequential"; });
  return found;
}

}  // namespace lano

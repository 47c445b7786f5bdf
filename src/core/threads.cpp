#include "core/threads.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

#include "core/error.h"

namespace lano {

namespace {

// The value in the environment, and the one used: libraries cannot complain.
const int asked_count = omp_get_max_threads();
const int default_count = [] {
  if (asked_count > kMostThreads) omp_set_num_threads(kMostThreads);
  return std::min(asked_count, kMostThreads);
}();
std::atomic<int> chosen_count = 0;  // OpenMP's own setting is the calling thread's alone

}  // namespace

int thread_count() {
  const int chosen = chosen_count;
  return chosen > 0 ? chosen : std::min(omp_get_max_threads(), kMostThreads);
}

void check_thread_count(int count) {
  const int wanted = count > 0 ? count : asked_count;
  if (wanted <= kMostThreads) return;
  fail_usage("choosing the threads", fmt::format("at most {}", kMostThreads), std::to_string(wanted),
             count > 0 ? "give fewer with --threads" : "set OMP_NUM_THREADS to fewer");
}

void set_thread_count(int count) {
  count = std::min(count, kMostThreads);
  chosen_count = std::max(count, 0);
  omp_set_num_threads(count > 0 ? count : default_count);
}

std::vector<BlasLibrary> loaded_openblas() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
        const auto slash = path.rfind('/');
        const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
        if (name.find("openblas") != std::string_view::npos)
          static_cast<std::vector<std::string>*>(out)->emplace_back(path);
        return 0;
      },
      &paths);
  std::vector<BlasLibrary> found;
  for (const std::string& path : paths) {
    BlasLibrary library{path, "unknown", ""};
    if (void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      // A POSIX dlsym result is meant to be converted like this.
      if (auto* ask = reinterpret_cast<int (*)()>(dlsym(handle, "openblas_get_parallel"))) {
        const int parallel = ask();
        library.kind = parallel == 2 ? "OpenMP" : parallel == 1 ? "pthread" : "sequential";
      }
      if (auto* name = reinterpret_cast<const char* (*)()>(dlsym(handle, "openblas_get_corename")))
        library.core = name();
      dlclose(handle);
    }
    found.push_back(std::move(library));
  }
  return found;
}

std::vector<BlasLibrary> foreign_pools() {
  std::vector<BlasLibrary> found = loaded_openblas();
  std::erase_if(found,
                [](const BlasLibrary& library) { return library.kind == "OpenMP" || library.kind == "sequential"; });
  return found;
}

std::string better_openblas_core(const BlasLibrary& library) {
  static constexpr std::array<std::string_view, 7> kWithAvx2{
      "Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids", "SapphireRapids", "Excavator"};
  const bool known = std::find(kWithAvx2.begin(), kWithAvx2.end(), library.core) != kWithAvx2.end();
  if (library.core.empty() || known) return {};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return {};
}

}  // namespace lano

#include "pde/umfpack_library.h"

#include <dlfcn.h>

#include "core/error.h"
#include "core/resident_memory.h"

namespace lano {
namespace {

constexpr const char* kDoing = "loading UMFPACK, which solves the flows";

[[noreturn]] void fail_to_load() {
  const char* const why = ::dlerror();
  fail(kDoing, "the library " LANO_UMFPACK_SONAME, why == nullptr ? "an incomplete one" : why, "install SuiteSparse");
}

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (function == nullptr) fail_to_load();
}

UmfpackLibrary load() {
  check_address_space(kDoing, std::int64_t{1} << 30);
  void* const library = ::dlopen(LANO_UMFPACK_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail_to_load();
  UmfpackLibrary found{};
  find(library, "umfpack_di_defaults", found.defaults);
  find(library, "umfpack_di_symbolic", found.symbolic);
  find(library, "umfpack_di_numeric", found.numeric);
  find(library, "umfpack_di_solve", found.solve);
  find(library, "umfpack_di_free_symbolic", found.free_symbolic);
  find(library, "umfpack_di_free_numeric", found.free_numeric);
  return found;
}

}  // namespace

const UmfpackLibrary& umfpack() {
  static const UmfpackLibrary library = load();  // never unloaded: its BLAS has threads
  return library;
}

}  // namespace lano

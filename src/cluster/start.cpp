#include "cluster/start.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "core/child_process.h"
#include "core/error.h"
#include "core/ranks.h"

namespace lano {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLauncherNames[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};

// Of Open MPI, of MPICH and Intel MPI (also under srun), and of srun with PMIx.
int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    // A Slurm script itself is no rank: only what srun starts has a place among them.
    if (std::string(name) == "SLURM_NTASKS" && std::getenv("PMIX_RANK") == nullptr) continue;
    return std::atoi(value);
  }
  return 1;
}

int number_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* const value = std::getenv(name); value != nullptr) return std::atoi(value);
  }
  return 0;
}

// Next to the program in a build folder, in a folder of its own once installed.
fs::path module_path() {
  for (const char* place : {"lano-mpi.so", "../lib/lano/lano-mpi.so", "../lib64/lano/lano-mpi.so"}) {
    if (const fs::path path = program_folder() / place; fs::exists(path)) return path;
  }
  const fs::path installed = program_folder() / LANO_MODULE_FOLDER / "lano-mpi.so";
  return fs::exists(installed) ? installed : fs::path();
}

// Open MPI loads parts of its own that look for the rest among the names everybody sees.
void* open_module(const fs::path& path) { return ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL); }

bool is_of_this_build(void* module) {
  const auto interface = reinterpret_cast<const char* (*)()>(::dlsym(module, "lano_mpi_interface"));
  return interface != nullptr && std::string(interface()) == LANO_RANKS_INTERFACE;
}

}  // namespace

Launched launched() {
  return {number_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}),
          number_of({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})};
}

void join_ranks() {
  const int wanted = launched_ranks();
  if (wanted < 2) return;
  const std::string doing = fmt::format("starting as one of {} ranks", wanted);
  const fs::path path = module_path();
  if (path.empty())
    fail_plainly(doing, "this lano was built without MPI",
                 "install it (scripts/packages mpi) and build again, or start without mpirun");
  void* const module = open_module(path);
  if (module == nullptr) fail(doing, fmt::format("the module '{}'", path.string()), ::dlerror());
  const auto make = reinterpret_cast<Ranks* (*)()>(::dlsym(module, "lano_make_ranks"));
  if (make == nullptr || !is_of_this_build(module))
    fail(doing, fmt::format("the module of this lano in '{}'", path.string()), "that of another build",
         "install program and module together");
  std::unique_ptr<Ranks> several(make());
  if (several->size() != wanted)
    fail(doing, fmt::format("{} ranks of the launcher's MPI", wanted), fmt::format("{}", several->size()),
         "start it with the mpirun of the MPI that lano was built with (lano info --system)");
  set_ranks(std::move(several));
  // What this process starts, or becomes, is no rank.
  for (const char* name : kLauncherNames) ::unsetenv(name);
}

std::string mpi_text() {
  const fs::path path = module_path();
  if (path.empty()) return "none (built without)";
  void* const module = open_module(path);
  if (module == nullptr) return fmt::format("cannot be loaded: {}", ::dlerror());
  const auto version = reinterpret_cast<const char* (*)()>(::dlsym(module, "lano_mpi_version"));
  return version == nullptr || !is_of_this_build(module) ? "a module of another build" : version();
}

}  // namespace lano

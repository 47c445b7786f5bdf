# The OpenMP build of OpenBLAS, by its own path: the system alternative libblas.so.3 may point at the pthread build,
# whose second thread pool was measured many times slower next to OpenMP. Target OpenBLASOpenMP::openblas, and
# OPENBLAS_OPENMP_DIR for the run path through which LibTorch's own libblas.so.3 is resolved to the same build.
find_library(OPENBLAS_OPENMP_LIBRARY NAMES openblas PATH_SUFFIXES
  openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp
  PATHS /usr/lib /usr/local/lib NO_DEFAULT_PATH)
if(NOT OPENBLAS_OPENMP_LIBRARY)
  find_library(OPENBLAS_OPENMP_LIBRARY NAMES openblaso openblas) # Fedora names the OpenMP build openblaso
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASOpenMP REQUIRED_VARS OPENBLAS_OPENMP_LIBRARY)
if(OpenBLASOpenMP_FOUND AND NOT TARGET OpenBLASOpenMP::openblas)
  get_filename_component(OPENBLAS_OPENMP_DIR ${OPENBLAS_OPENMP_LIBRARY} DIRECTORY)
  add_library(OpenBLASOpenMP::openblas UNKNOWN IMPORTED)
  set_target_properties(OpenBLASOpenMP::openblas PROPERTIES IMPORTED_LOCATION ${OPENBLAS_OPENMP_LIBRARY})
endif()

# Install: the program, and the torch-free libraries as an exported package, so that find_package(lano) gives
# lano::core, lano::data, lano::runtime, ... to other projects.
include(CMakePackageConfigHelpers)
set(LANO_ROOMS core model_spec kernels normalise metrics data pde runtime evaluate run train experiment report)
list(TRANSFORM LANO_ROOMS PREPEND lano_ OUTPUT_VARIABLE LANO_EXPORTED)
install(TARGETS ${LANO_EXPORTED} EXPORT lanoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder ${LANO_ROOMS})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lano
    FILES_MATCHING PATTERN "*.h" PATTERN "hdf5_*.h" EXCLUDE PATTERN "mat5_file.h" EXCLUDE PATTERN "sample_import.h"
      EXCLUDE PATTERN "fftw.h" EXCLUDE PATTERN "umfpack_library.h" EXCLUDE PATTERN "operator_parts.h" EXCLUDE)
endforeach()
install(TARGETS lano_shared EXPORT lanoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/src/runtime/lano.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(LANO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lano)
install(EXPORT lanoTargets NAMESPACE lano:: DESTINATION ${LANO_CMAKE_DIR})
configure_package_config_file(cmake/lanoConfig.cmake.in ${PROJECT_BINARY_DIR}/lanoConfig.cmake
  INSTALL_DESTINATION ${LANO_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lanoConfig.cmake ${PROJECT_BINARY_DIR}/lanoConfigVersion.cmake
  cmake/FindFFTW3.cmake cmake/FindLibZip.cmake DESTINATION ${LANO_CMAKE_DIR})

# Install: the program, and the torch-free libraries as an exported package, so that find_package(lano) gives
# lano::core, lano::data, lano::runtime, ... to other projects.
include(CMakePackageConfigHelpers)
set(LANO_EXPORTED lano_core lano_kernels lano_normalise lano_metrics lano_data lano_pde lano_runtime lano_report
  lano_evaluate lano_train)
install(TARGETS ${LANO_EXPORTED} EXPORT lanoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder core kernels normalise metrics data pde runtime report evaluate train)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lano
    FILES_MATCHING PATTERN "*.h" PATTERN "hdf5_*.h" EXCLUDE PATTERN "mat5_file.h" EXCLUDE PATTERN "sample_import.h"
      EXCLUDE PATTERN "fftw.h" EXCLUDE)
endforeach()
install(TARGETS lano_shared EXPORT lanoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/src/runtime/lano.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(LANO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lano)
install(EXPORT lanoTargets NAMESPACE lano:: DESTINATION ${LANO_CMAKE_DIR})
configure_package_config_file(cmake/lanoConfig.cmake.in ${PROJECT_BINARY_DIR}/lanoConfig.cmake
  INSTALL_DESTINATION ${LANO_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lanoConfig.cmake ${PROJECT_BINARY_DIR}/lanoConfigVersion.cmake
  cmake/FindFFTW3.cmake cmake/FindLibZip.cmake cmake/FindUMFPACK.cmake DESTINATION ${LANO_CMAKE_DIR})

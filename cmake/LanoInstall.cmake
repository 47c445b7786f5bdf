# Install: the program with its recipes, liblano.so with the headers of include/lano, and the torch-free libraries as a
# package of components, so that find_package(lano COMPONENTS runtime) looks for nothing that prediction does not need.
include(CMakePackageConfigHelpers)
set(LANO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lano)

# lano_component(<name> <targets>...): one export set, which may use those of the components before it.
set(LANO_COMPONENTS "")
function(lano_component name)
  install(TARGETS ${ARGN} EXPORT lano-${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT lano-${name} NAMESPACE lano:: FILE lano-${name}-targets.cmake DESTINATION ${LANO_CMAKE_DIR})
  set(LANO_COMPONENTS ${LANO_COMPONENTS} ${name} PARENT_SCOPE)
endfunction()
lano_component(runtime lano_core lano_model_spec lano_kernels lano_normalise lano_metrics lano_runtime lano_shared)
if(NOT LANO_ONLY_RUNTIME)
  lano_component(data lano_data)
  lano_component(solvers lano_pde)
  lano_component(train lano_evaluate lano_run lano_train)
  lano_component(report lano_report)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/lano)
endif()

# The headers that users include, and below lano/detail what these include (LanoHeaders.cmake). Those of components that
# are not built would promise what cannot be linked.
set(names "*.h")
if(LANO_ONLY_RUNTIME)
  set(names error.h lano.h listener.h metrics.h model_file.h operator.h set_description.h threads.h version.h)
endif()
install(CODE "set(LANO_HEADERS \"${PROJECT_SOURCE_DIR}/include/lano\")
set(LANO_HEADER_NAMES \"${names}\")
set(LANO_HEADER_FOLDERS \"${PROJECT_SOURCE_DIR}/src\" \"${PROJECT_BINARY_DIR}/generated\")
set(LANO_HEADERS_MADE \"${PROJECT_BINARY_DIR}/installed-headers\")
set(LANO_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/LanoHeaders.cmake)

configure_package_config_file(cmake/lanoConfig.cmake.in ${PROJECT_BINARY_DIR}/lanoConfig.cmake
  INSTALL_DESTINATION ${LANO_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lanoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lanoConfig.cmake ${PROJECT_BINARY_DIR}/lanoConfigVersion.cmake
  cmake/FindFFTW3.cmake cmake/FindLibZip.cmake DESTINATION ${LANO_CMAKE_DIR})

# For everything that is not CMake. Paths from the file itself, so that the installation may be moved.
set(pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH LANO_PC_PREFIX ${pc_folder} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH LANO_PC_INCLUDEDIR ${pc_folder} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
string(REGEX REPLACE "/$" "" LANO_PC_PREFIX ${LANO_PC_PREFIX})
configure_file(cmake/lano.pc.in ${PROJECT_BINARY_DIR}/lano.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lano.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

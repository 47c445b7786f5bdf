# UMFPACK of SuiteSparse (Debian: libsuitesparse-dev), which has no CMake file there. Gives
# UMFPACK_INCLUDE_DIR, and UMFPACK_SONAME: the name under which a program loads it while it runs.
find_path(UMFPACK_INCLUDE_DIR umfpack.h PATH_SUFFIXES suitesparse)
find_library(UMFPACK_LIBRARY NAMES ${CMAKE_SHARED_LIBRARY_PREFIX}umfpack${CMAKE_SHARED_LIBRARY_SUFFIX} umfpack)
if(UMFPACK_LIBRARY)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${UMFPACK_LIBRARY} OUTPUT_VARIABLE umfpack_header ERROR_QUIET)
  if(umfpack_header MATCHES "SONAME +([^ \n]+)")
    set(UMFPACK_SONAME ${CMAKE_MATCH_1})
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(UMFPACK REQUIRED_VARS UMFPACK_LIBRARY UMFPACK_INCLUDE_DIR UMFPACK_SONAME)

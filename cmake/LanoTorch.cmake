# LibTorch for our targets: its headers as system headers, its flags on our torch targets only, one precompiled header.
add_library(lano_torch INTERFACE)
target_include_directories(lano_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(lano_torch INTERFACE ${TORCH_LIBRARIES} OpenBLASOpenMP::openblas)
# DT_RPATH (not RUNPATH) also steers the libraries that LibTorch loads, so its libblas.so.3 is the OpenMP build too.
target_link_options(lano_torch INTERFACE
  -Wl,--disable-new-dtags -Wl,-rpath,${OPENBLAS_OPENMP_DIR} -Wl,--no-as-needed)

function(lano_use_torch target)
  target_link_libraries(${target} PUBLIC lano_torch)
  separate_arguments(flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(${target} PRIVATE ${flags})
endfunction()

# An executable that includes LibTorch and shares the precompiled header of lano_libtorch: its objects must be compiled
# with the library's own -fPIC, or the header would be made twice.
function(lano_torch_executable target)
  lano_use_torch(${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM lano_libtorch)
endfunction()

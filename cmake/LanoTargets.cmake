# How every target of the project is made: C++20, warnings, sanitizers on request, one alias lano::<name>.
# Flags are set on our own targets only; nothing is forced on a project that includes or links this one.

function(lano_target_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    $<$<BOOL:${LANO_WARNINGS_AS_ERRORS}>:-Werror>)
  if(LANO_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${LANO_SANITIZE} -fno-sanitize-recover=all
      -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${LANO_SANITIZE})
  endif()
endfunction()

# lano_library(<name> SOURCES ... LINKS ... PRIVATE_LINKS ...): static library lano_<name>, alias lano::<name>.
function(lano_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target lano_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(lano::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(NOT PROJECT_IS_TOP_LEVEL)  # a project that takes this one in includes <lano/...>, as it would from an installation
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  endif()
  target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  lano_target_settings(${target})
endfunction()

# Most files parse, check, write and call: optimising them, and compiling the libraries they inline (fmt, JSON, CLI11)
# once per file, buys nothing but build time. lano_quick_build(<target> [HOT sources...] [ALONE sources...]): light
# optimisation, about ten files per compilation. HOT: files that hold inner loops are optimised in full, and ALONE
# ones, which have names in common with others, are compiled by themselves.
option(LANO_UNITY "Compile several files of a library together: half the build time; off for work on single files" ON)
function(lano_quick_build target)
  cmake_parse_arguments(ARG "" "" "HOT;ALONE" ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LANO_UNITY} UNITY_BUILD_BATCH_SIZE 10)
  set_source_files_properties(${ARG_HOT} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
  set_source_files_properties(${ARG_HOT} ${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The same for programs of one file or of files that share nothing.
function(lano_lightly_optimised target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# How every target of the project is made: C++20, warnings, sanitizers on request, one alias lano::<name>.
# Flags are set on our own targets only; nothing is forced on a project that includes or links this one.

function(lano_target_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    $<$<BOOL:${LANO_WARNINGS_AS_ERRORS}>:-Werror>)
  if(LANO_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${LANO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
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
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/lano>)
  target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  lano_target_settings(${target})
endfunction()

# Programs only parse and call: optimising them (and the command-line library they inline) buys nothing but build time.
function(lano_lightly_optimised target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

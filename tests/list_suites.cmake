# Writes the CTest file of one test program: an entry per suite, not per test, for programs that take long to start.
# -DPROGRAM=... -DPREFIX=libtorch. -DFILTER=... (GoogleTest's, of the tests wanted) -DOUT=file
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER} OUTPUT_VARIABLE listed
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM} does not list its tests: ${failed}")
endif()
string(REGEX REPLACE "^[^-]*-" ":-" without "${FILTER}")  # "a:-b:c" is a without b and c
if(NOT FILTER MATCHES "-")
  set(without "")
endif()
set(text "")
string(REPLACE ";" "," listed "${listed}")
string(REPLACE "\n" ";" lines "${listed}")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.($| )")
    set(suite ${CMAKE_MATCH_1})
    string(APPEND text "add_test([=[${PREFIX}${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}.*${without}]=])\n"
      "set_tests_properties([=[${PREFIX}${suite}]=] PROPERTIES TIMEOUT 900)\n")
  endif()
endforeach()
if(text STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} has no tests of '${FILTER}'")
endif()
file(WRITE ${OUT} "${text}")

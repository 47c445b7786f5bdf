# While installing: the headers LANO_HEADER_NAMES of the folder LANO_HEADERS become <lano/...>, those they include (looked for in
# LANO_HEADER_FOLDERS) <lano/detail/...>, with their includes changed to these names, so that no name of a folder in src
# can meet one of the user's. Nothing else is installed. Done here rather than while configuring, so that what is
# installed is what the source says now.
cmake_policy(VERSION 3.25)  # an install script has none of the project's
cmake_policy(VERSION 3.25)  # cmake --install sets none
file(REMOVE_RECURSE ${LANO_HEADERS_MADE})
list(TRANSFORM LANO_HEADER_NAMES PREPEND ${LANO_HEADERS}/)
file(GLOB headers RELATIVE ${LANO_HEADERS} ${LANO_HEADER_NAMES})
set(wanted "")

# Writes `name` with its includes changed, and appends what it includes to `wanted`.
function(lano_install_header from name)
  file(READ ${from} text)
  string(REGEX MATCHALL "#include \"[^\"]+\"" lines "${text}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" included ${line})
    list(APPEND wanted ${included})
  endforeach()
  string(REGEX REPLACE "#include \"([^\"]+)\"" "#include \"lano/detail/\\1\"" text "${text}")
  file(WRITE ${LANO_HEADERS_MADE}/${name} "${text}")
  set(wanted ${wanted} PARENT_SCOPE)
endfunction()

foreach(name IN LISTS headers)
  lano_install_header(${LANO_HEADERS}/${name} ${name})
endforeach()
set(done "")
while(wanted)
  list(POP_FRONT wanted name)
  if(name IN_LIST done)
    continue()
  endif()
  list(APPEND done ${name})
  set(found "")
  foreach(folder IN LISTS LANO_HEADER_FOLDERS)
    if(EXISTS ${folder}/${name})
      set(found ${folder}/${name})
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "installing the headers: '${name}' is included and is in none of ${LANO_HEADER_FOLDERS}")
  endif()
  lano_install_header(${found} detail/${name})
endwhile()

if(IS_ABSOLUTE "${LANO_INCLUDEDIR}")
  set(to ${LANO_INCLUDEDIR})
else()
  set(to ${CMAKE_INSTALL_PREFIX}/${LANO_INCLUDEDIR})
endif()
file(INSTALL DESTINATION ${to}/lano TYPE DIRECTORY FILES ${LANO_HEADERS_MADE}/)

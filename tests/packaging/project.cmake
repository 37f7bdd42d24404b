# Configures SOURCE in FOLDER with ARGS, then builds and runs PROGRAMS.
# With ERROR a step must fail and say that text: configuring, or, with REFUSED, building that target.
# With INSTALL the build tree TREE is installed first, moved (a package must not know its place) and used.
set(ENV{CCACHE_NOHASHDIR} 1)  # as in the build that made the objects
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}\n${text}")
  endif()
endfunction()

function(must_fail)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(status EQUAL 0 OR NOT text MATCHES "${ERROR}")
    message(FATAL_ERROR "expected a failure that says '${ERROR}', got status ${status}:\n${text}")
  endif()
endfunction()

if(INSTALL)
  run(${CMAKE_COMMAND} --install "${TREE}" --prefix "${FOLDER}/first")
  file(RENAME "${FOLDER}/first" "${FOLDER}/moved")
  list(APPEND ARGS "-DCMAKE_PREFIX_PATH=${FOLDER}/moved" "-DFORBIDDEN=${FOLDER}/first|${TREE}/include")
endif()

set(configure ${CMAKE_COMMAND} -S "${SOURCE}" -B "${FOLDER}/build" ${ARGS})
if(ERROR AND NOT REFUSED)
  must_fail(${configure})
  return()
endif()
run(${configure})
if(REFUSED)
  must_fail(${CMAKE_COMMAND} --build "${FOLDER}/build" --target "${REFUSED}")
endif()
foreach(program ${PROGRAMS})
  run(${CMAKE_COMMAND} --build "${FOLDER}/build" --target "${program}")
  run("${FOLDER}/build/${program}")
endforeach()

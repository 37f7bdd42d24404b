# Examples: examples/<name>/*.cpp or examples/<name>.cpp is one program <name>.

# The optional components of which the files, or the support headers that they include, include a header, such as
# <tandem/data.hpp>. io is not among them: all programs link it.
function(tandem_components_of result)
  set(components)
  foreach(file ${ARGN})
    file(STRINGS "${file}" lines REGEX "^#include ")
    foreach(line ${lines})
      if(line MATCHES "<tandem/(data|linalg|signal|strings)\\.hpp>")
        list(APPEND components ${CMAKE_MATCH_1})
      elseif(line MATCHES "\"(examples/support/[a-z_]+\\.hpp)\"")
        tandem_components_of(of_header "${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_1}")
        list(APPEND components ${of_header})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES components)
  set(${result} ${components} PARENT_SCOPE)
endfunction()

function(tandem_add_example name)
  tandem_components_of(components ${ARGN})
  foreach(component ${components})
    if(NOT TARGET tandem_${component})
      message(STATUS "example ${name}: left out, as tandem::${component} is not built")
      return()
    endif()
  endforeach()
  list(TRANSFORM components PREPEND tandem_)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${components})
  target_compile_options(${name} PRIVATE ${TANDEM_WARNINGS})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE $<IF:$<TARGET_EXISTS:tandem_io>,tandem_io,tandem>)
  # One unity unit per program: most of the time goes into parsing the library headers.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples"
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  if(TANDEM_BUILD_TESTS)  # the kernels are in the library
    target_compile_options(${name} PRIVATE ${test_options})
  endif()
  set(script "${PROJECT_SOURCE_DIR}/tests/examples/${name}.sh")  # runs the program as a user would, as a test
  if(TANDEM_BUILD_TESTS AND EXISTS "${script}")
    add_test(NAME example_${name} COMMAND sh "${script}" "$<TARGET_FILE:${name}>")
    set_tests_properties(example_${name} PROPERTIES LABELS fast TIMEOUT 300 SKIP_RETURN_CODE 77
      ENVIRONMENT "TANDEM_SKIPPED=${TANDEM_SKIPPED_FOLDER}/example_${name}")
  endif()
endfunction()

file(GLOB_RECURSE example_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/examples" "${PROJECT_SOURCE_DIR}/examples/*.cpp")
set(example_names)
foreach(file ${example_files})
  string(REGEX REPLACE "(/.*|\\.cpp)$" "" name "${file}")
  list(APPEND example_names ${name})
  list(APPEND files_of_example_${name} "${PROJECT_SOURCE_DIR}/examples/${file}")
endforeach()
list(REMOVE_DUPLICATES example_names)
# A program may use the model of another one.
foreach(file description model trainer)
  list(APPEND files_of_example_beam_search "${PROJECT_SOURCE_DIR}/examples/char_rnn/${file}.cpp")
endforeach()
set(built_examples)
foreach(name ${example_names})
  tandem_add_example(${name} ${files_of_example_${name}})
  if(TARGET ${name})
    list(APPEND built_examples ${name})
  endif()
endforeach()

# Tests of all programs together, and of ./dev.
if(TANDEM_BUILD_TESTS AND Python3_Interpreter_FOUND)
  foreach(test interrupt terminal)
    add_test(NAME examples_${test} COMMAND ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/tests/examples/${test}.py"
      "${PROJECT_BINARY_DIR}/examples" ${built_examples})
    set_tests_properties(examples_${test} PROPERTIES LABELS fast TIMEOUT 600)
  endforeach()
endif()

# Examples: examples/<name>/*.cpp or examples/<name>.cpp is one program <name>.
find_package(fmt REQUIRED)

# The optional components of which the files, or the support headers that they include, include a header, such as
# <tandem/data.hpp>. io is not among them: all programs link it. Nor are the extras, whose headers programs include where
# TANDEM_WITH_<NAME> says that they are built: they belong to distribute and serving, and are linked with these.
set(tandem_example_extras distribute_mpi distribute_gloo distribute_nccl serving_grpc)
function(tandem_components_of result)
  set(components)
  set(names ${TANDEM_COMPONENT_NAMES})
  list(REMOVE_ITEM names io ${tandem_example_extras})
  list(JOIN names "|" names)
  foreach(file ${ARGN})
    file(STRINGS "${file}" lines REGEX "^#include ")
    foreach(line ${lines})
      if(line MATCHES "<tandem/(${names})\\.hpp>")
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

# Half of the time of a program is its headers, where nothing is optimised: most have these.
if(TANDEM_BUILD_TESTS AND TANDEM_PCH AND TARGET tandem_train)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tandem_example_pch.cpp" CONTENT "// Carries the precompiled header.\n")
  add_library(tandem_example_pch OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/tandem_example_pch.cpp")
  target_link_libraries(tandem_example_pch PRIVATE tandem_train fmt::fmt tandem_test_build)
  target_compile_options(tandem_example_pch PRIVATE ${TANDEM_WARNINGS})
  target_precompile_headers(tandem_example_pch PRIVATE <fmt/format.h> <CLI/CLI.hpp> <tandem/data.hpp> <tandem/tandem.hpp>
    <tandem/train.hpp>)
endif()

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
  foreach(extra ${tandem_example_extras})
    string(REGEX REPLACE "_[a-z]+$" "" base "${extra}")
    if(TARGET tandem_${extra} AND tandem_${base} IN_LIST components)
      string(TOUPPER ${extra} upper)
      target_link_libraries(${name} PRIVATE tandem_${extra})
      target_compile_definitions(${name} PRIVATE TANDEM_WITH_${upper}=1)
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE $<IF:$<TARGET_EXISTS:tandem_io>,tandem_io,tandem>)
  if(NOT name MATCHES "^first_")  # which need nothing but Tandem
    target_link_libraries(${name} PRIVATE fmt::fmt)
    if(TARGET tandem_example_pch)
      target_precompile_headers(${name} REUSE_FROM tandem_example_pch)
    endif()
  endif()
  # One unity unit per program: most of the time goes into parsing the library headers.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples"
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  if(TANDEM_BUILD_TESTS)  # the kernels are in the library
    target_link_libraries(${name} PRIVATE tandem_test_build)
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
foreach(file description model learn)
  list(APPEND files_of_example_beam_search "${PROJECT_SOURCE_DIR}/examples/char_rnn/${file}.cpp")
endforeach()
foreach(file description model)
  list(APPEND files_of_example_serve_char_rnn "${PROJECT_SOURCE_DIR}/examples/char_rnn/${file}.cpp")
endforeach()
set(built_examples)
foreach(name ${example_names})
  tandem_add_example(${name} ${files_of_example_${name}})
  if(TARGET ${name})
    list(APPEND built_examples ${name})
  endif()
endforeach()

# The programs for servers and for distributed training: cmake --install BUILD --component tools.
if(TANDEM_INSTALL)
  foreach(tool model_server saved_model tandem_run)
    if(TARGET ${tool})
      string(REGEX REPLACE "^tandem_" "" plain ${tool})
      install(PROGRAMS "$<TARGET_FILE:${tool}>" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME tandem_${plain} COMPONENT tools
        EXCLUDE_FROM_ALL OPTIONAL)
    endif()
  endforeach()
  if(TARGET model_server)
    install(FILES "${PROJECT_SOURCE_DIR}/packaging/systemd/tandem_model_server.service" DESTINATION lib/systemd/system
      COMPONENT tools EXCLUDE_FROM_ALL)
  endif()
endif()

# Versions that come and go while clients ask, and clients that are not ours.
if(TARGET model_server AND TARGET readers_serving_models AND Python3_Interpreter_FOUND)
  add_test(NAME serving_load COMMAND ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/tests/serving/load.py"
    "$<TARGET_FILE:model_server>" "$<TARGET_FILE:readers_serving_models>")
  set_tests_properties(serving_load PROPERTIES LABELS fast TIMEOUT 300)
  foreach(test tools page)
    add_test(NAME serving_${test} COMMAND ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/tests/serving/${test}.py"
      "$<TARGET_FILE:model_server>" "$<TARGET_FILE:readers_serving_models>")
    set_tests_properties(serving_${test} PROPERTIES LABELS fast TIMEOUT 300 SKIP_RETURN_CODE 77
      ENVIRONMENT "TANDEM_SKIPPED=${TANDEM_SKIPPED_FOLDER}/serving_${test}")
  endforeach()
endif()

# Tests of all programs together, and of ./dev.
if(TANDEM_BUILD_TESTS AND Python3_Interpreter_FOUND)
  foreach(test interrupt terminal)
    add_test(NAME examples_${test} COMMAND ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/tests/examples/${test}.py"
      "${PROJECT_BINARY_DIR}/examples" ${built_examples})
    set_tests_properties(examples_${test} PROPERTIES LABELS fast TIMEOUT 600)
  endforeach()
  add_test(NAME examples_results COMMAND ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/examples/results.py" --check ${built_examples})
  set_tests_properties(examples_results PROPERTIES LABELS fast TIMEOUT 60 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME examples_dev_demo COMMAND sh "${PROJECT_SOURCE_DIR}/tests/examples/dev_demo.sh" "${PROJECT_SOURCE_DIR}/dev")
  set_tests_properties(examples_dev_demo PROPERTIES LABELS fast TIMEOUT 60)
endif()

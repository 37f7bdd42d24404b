# Tests. Every folder below tests/ with *_test.cpp files is one program, test_<folder>, and one ctest entry of that
# name, labelled fast; its *_slow_test.cpp files are a second program, labelled slow. Several files are compiled as
# one unit (Unity.cmake). With TANDEM_HEADER_ONLY_TESTS all tests also exist in header-only mode, as one program of a
# few units. Lints and packaging tests add themselves from their folders.
include(Unity)
find_package(Catch2 REQUIRED)
find_package(Python3 COMPONENTS Interpreter)

# Most of the time of a test is its compilation, which takes twice as long with -O1 and line numbers.
set(TANDEM_TEST_OPTIONS "-O0 -g0" CACHE STRING "compiler options of the tests alone")
separate_arguments(test_options UNIX_COMMAND "${TANDEM_TEST_OPTIONS}")
set(TANDEM_UNITY_BATCH 48 CACHE STRING "test files per unit in header-only mode")
set(TANDEM_TEST_BATCH 4 CACHE STRING "test files per unit in compiled mode: most of a file's time is its headers'")

# Settings shared by all tests in both modes (equal flags let them share one precompiled header).
add_library(tandem_test_base INTERFACE)
target_compile_features(tandem_test_base INTERFACE cxx_std_20)
target_include_directories(tandem_test_base INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(tandem_test_base INTERFACE TANDEM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  TANDEM_TEST_LINALG=$<TARGET_EXISTS:tandem_linalg>)
target_compile_options(tandem_test_base INTERFACE ${TANDEM_WARNINGS} ${test_options})
target_link_libraries(tandem_test_base INTERFACE Catch2::Catch2 Threads::Threads)

add_library(tandem_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
target_link_libraries(tandem_test_main PRIVATE tandem_test_base)
if(TANDEM_PCH)
  # A separate target: main.cpp contains the implementation of the framework and must be the first to include the
  # header.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tandem_test_pch.cpp" CONTENT "// Carries the precompiled header.\n")
  add_library(tandem_test_pch OBJECT "${PROJECT_BINARY_DIR}/tandem_test_pch.cpp")
  target_link_libraries(tandem_test_pch PRIVATE tandem_test_base)
  target_precompile_headers(tandem_test_pch PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/catch.hpp")
endif()

file(GLOB TANDEM_TEST_SUPPORT CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
list(FILTER TANDEM_TEST_SUPPORT EXCLUDE REGEX "/main\\.cpp$")

# The helpers of tests/support, compiled once per mode; a program links what it calls from the archive.
function(tandem_test_support mode)
  if(NOT TANDEM_TEST_SUPPORT OR TARGET tandem_test_support_${mode})
    return()
  endif()
  add_library(tandem_test_support_${mode} STATIC EXCLUDE_FROM_ALL ${TANDEM_TEST_SUPPORT})
  target_link_libraries(tandem_test_support_${mode} PUBLIC tandem_test_base)
  if(mode STREQUAL compiled)
    target_link_libraries(tandem_test_support_${mode} PUBLIC tandem $<TARGET_NAME_IF_EXISTS:tandem_linalg>)
  else()
    target_link_libraries(tandem_test_support_${mode} PUBLIC tandem_header_only
      $<TARGET_NAME_IF_EXISTS:tandem_linalg_header_only>)
    target_compile_options(tandem_test_support_${mode} PRIVATE "SHELL:-include tandem/testing.hpp"
      $<$<TARGET_EXISTS:tandem_linalg_header_only>:SHELL:-include tandem/linalg.hpp>)
    set_target_properties(tandem_test_support_${mode} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# tandem_add_test(name mode label sources...): mode is compiled or header_only.
function(tandem_add_test name mode label)
  set(sources ${ARGN})
  set(alone)
  if(mode STREQUAL compiled)
    set(TANDEM_UNITY_BATCH ${TANDEM_TEST_BATCH})
    foreach(file ${tests_alone})
      if(file IN_LIST sources)
        list(APPEND alone ${file})
        list(REMOVE_ITEM sources ${file})
      endif()
    endforeach()
  endif()
  tandem_unity(sources "${PROJECT_BINARY_DIR}/unity/${name}" ${sources})
  list(APPEND sources ${alone})
  add_executable(${name} ${sources} $<TARGET_OBJECTS:tandem_test_main>)
  tandem_test_support(${mode})
  target_link_libraries(${name} PRIVATE tandem_test_base $<TARGET_NAME_IF_EXISTS:tandem_test_support_${mode}>)
  if(TANDEM_PCH)
    target_precompile_headers(${name} REUSE_FROM tandem_test_pch)
  endif()
  if(mode STREQUAL compiled)
    target_link_libraries(${name} PRIVATE $<IF:$<TARGET_EXISTS:tandem_io>,tandem_io,tandem>
      $<TARGET_NAME_IF_EXISTS:tandem_linalg>)
  else()
    target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:tandem_linalg_header_only>
      $<IF:$<TARGET_EXISTS:tandem_io_header_only>,tandem_io_header_only,tandem_header_only>)
    add_dependencies(tandem_header_only_tests ${name})
    # The tests include only the headers that they test; an umbrella header provides the definitions.
    target_compile_options(${name} PRIVATE "SHELL:-include tandem/testing.hpp" "SHELL:-include tandem/cuda.hpp"
      $<$<TARGET_EXISTS:tandem_io_header_only>:SHELL:-include tandem/train.hpp>
      $<$<TARGET_EXISTS:tandem_linalg_header_only>:SHELL:-include tandem/linalg.hpp>)
    list(APPEND label header_only)
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  # The line is printed by tests/support/main.cpp, never together with a failure.
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT 900
    SKIP_REGULAR_EXPRESSION "most tests of this program were skipped")
endfunction()

if(TANDEM_HEADER_ONLY_TESTS)
  add_custom_target(tandem_header_only_tests)
endif()

file(GLOB_RECURSE test_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/tests/*_test.cpp")
list(FILTER test_files EXCLUDE REGEX "^(support|packaging|lint)/")
if(NOT TANDEM_WITH_CUDA)
  list(FILTER test_files EXCLUDE REGEX "^cuda/")
endif()
if(NOT TANDEM_WITH_IO)
  list(FILTER test_files EXCLUDE REGEX "^(io|train)/")
endif()
if(NOT TANDEM_WITH_LINALG)
  list(FILTER test_files EXCLUDE REGEX "^linalg/")
endif()
# Files whose loops take longer than their compilation.
set(loops cpu/broadcast_test.cpp cpu/gemm_test.cpp graph/random_program_test.cpp io/safetensors_limits_test.cpp
  ops/reduce/like_test.cpp ops/reduce/reduce_test.cpp ops/reduce/scan_test.cpp)
list(TRANSFORM loops PREPEND "${PROJECT_SOURCE_DIR}/tests/")
set_source_files_properties(${loops} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
# The first tests what names mean at global scope, the second defines a macro before it includes the library.
set(tests_alone habits/names_test.cpp ops/debug/no_asserts_test.cpp)
list(TRANSFORM tests_alone PREPEND "${PROJECT_SOURCE_DIR}/tests/")
list(APPEND tests_alone ${loops})

set(test_groups)
foreach(file ${test_files})
  get_filename_component(folder "${file}" DIRECTORY)
  string(REPLACE "/" "_" group "test_${folder}")
  if(file MATCHES "_slow_test\\.cpp$")
    string(APPEND group "_slow")
  endif()
  list(APPEND test_groups ${group})
  list(APPEND files_of_${group} "${PROJECT_SOURCE_DIR}/tests/${file}")
endforeach()
list(REMOVE_DUPLICATES test_groups)
if(TANDEM_WITH_CUDA)
  add_custom_target(tandem_cuda_tests)
endif()
foreach(group ${test_groups})
  set(label fast)
  if(group MATCHES "_slow$")
    set(label slow)
  endif()
  tandem_add_test(${group} compiled ${label} ${files_of_${group}})
  if(group MATCHES "^test_cuda")
    add_dependencies(tandem_cuda_tests ${group})
  else()
    list(APPEND header_only_${label} ${files_of_${group}})
  endif()
endforeach()
# One program per label: most of the compile time of a unit goes into the library, which every unit compiles again.
foreach(label fast slow)
  if(TANDEM_HEADER_ONLY_TESTS AND header_only_${label})
    tandem_add_test(test_header_only_${label} header_only ${label} ${header_only_${label}})
  endif()
endforeach()

if(TANDEM_WITH_CUDA)
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/cuda" "${PROJECT_BINARY_DIR}/cuda_tests")
endif()
if(Python3_Interpreter_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/tests/lint/CMakeLists.txt")
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/lint" "${PROJECT_BINARY_DIR}/lint")
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/tests/packaging/CMakeLists.txt")
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/packaging" "${PROJECT_BINARY_DIR}/packaging")
endif()

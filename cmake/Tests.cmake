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
# How programs are built that exist to be tested: tests, examples, those of the pages. gold reads the symbols of the
# library in half the time of the default linker, and there are more than a hundred programs.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold TANDEM_HAS_GOLD)
add_library(tandem_test_build INTERFACE)
target_compile_options(tandem_test_build INTERFACE ${test_options})
if(TANDEM_HAS_GOLD)
  target_link_options(tandem_test_build INTERFACE -fuse-ld=gold)
endif()
set(TANDEM_TEST_BATCH 16 CACHE STRING "test files per unit in compiled mode: most of a file's time is its headers'")

# Each test writes here what it skipped, in a file of its name; ./dev test shows them.
set(TANDEM_SKIPPED_FOLDER "${PROJECT_BINARY_DIR}/skipped")
file(MAKE_DIRECTORY "${TANDEM_SKIPPED_FOLDER}")

# Settings shared by all tests in both modes (equal flags let them share one precompiled header): tandem_test_base, and
# with the compiler options of the tests tandem_test_settings.
add_library(tandem_test_base INTERFACE)
target_compile_features(tandem_test_base INTERFACE cxx_std_20)
target_include_directories(tandem_test_base INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(tandem_test_base INTERFACE TANDEM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CATCH_CONFIG_FAST_COMPILE)
target_compile_options(tandem_test_base INTERFACE ${TANDEM_WARNINGS})
target_link_libraries(tandem_test_base INTERFACE Catch2::Catch2 Threads::Threads)
add_library(tandem_test_settings INTERFACE)
target_link_libraries(tandem_test_settings INTERFACE tandem_test_base tandem_test_build)

add_library(tandem_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
target_link_libraries(tandem_test_main PRIVATE tandem_test_settings)
add_library(tandem_test_environment OBJECT "${PROJECT_SOURCE_DIR}/tests/support/from_environment.cpp")
target_link_libraries(tandem_test_environment PRIVATE tandem_test_settings tandem)
file(GLOB TANDEM_TEST_SUPPORT CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
list(FILTER TANDEM_TEST_SUPPORT EXCLUDE REGEX "/(main|from_environment)\\.cpp$")

include(TestComponents)
tandem_filter_samples(TANDEM_TEST_SUPPORT)
target_compile_definitions(tandem_test_base INTERFACE ${tandem_component_macros})
set(tandem_component_umbrellas)
foreach(component ${tandem_optional_components})
  string(APPEND tandem_component_umbrellas " -include tandem/${component}.hpp")
endforeach()

# The precompiled header of the tests, carried by a target of its own: main.cpp contains the implementation of the
# framework and must be the first to include it. It holds the umbrella too, which is most of the time of a unit.
if(TANDEM_PCH)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tandem_test_pch.cpp" CONTENT "// Carries the precompiled header.\n")
  add_library(tandem_test_pch OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/tandem_test_pch.cpp")
  target_link_libraries(tandem_test_pch PRIVATE tandem_test_settings tandem ${tandem_component_targets})
  target_precompile_headers(tandem_test_pch PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/catch.hpp" <tandem/tandem.hpp>)
endif()

# The helpers of tests/support in compiled mode: a program links what it calls from the archive.
if(TANDEM_TEST_SUPPORT)
  add_library(tandem_test_support STATIC EXCLUDE_FROM_ALL ${TANDEM_TEST_SUPPORT})
  target_link_libraries(tandem_test_support PUBLIC tandem_test_base tandem ${tandem_component_targets}
    PRIVATE tandem_test_settings)
endif()

# tandem_register_test(name label): adds a program to ctest.
function(tandem_register_test name label)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  # The line is printed by tests/support/main.cpp, never together with a failure.
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT 900
    SKIP_REGULAR_EXPRESSION "all [0-9]+ tests of this program were skipped"
    # Requests of more memory than there can be are tested, which the address sanitizer would end the program for.
    ENVIRONMENT "TANDEM_SKIPPED=${TANDEM_SKIPPED_FOLDER}/${name};ASAN_OPTIONS=allocator_may_return_null=1")
endfunction()

# tandem_add_test(name label sources...): a program of tests that links the library.
function(tandem_add_test name label)
  set(sources ${ARGN})
  set(alone)
  foreach(file ${tests_alone})
    if(file IN_LIST sources)
      list(APPEND alone ${file})
      list(REMOVE_ITEM sources ${file})
    endif()
  endforeach()
  tandem_unity(sources "${PROJECT_BINARY_DIR}/unity/${name}" ${TANDEM_TEST_BATCH} ${sources})
  add_executable(${name} ${sources} ${alone} $<TARGET_OBJECTS:tandem_test_main> $<TARGET_OBJECTS:tandem_test_environment>)
  target_link_libraries(${name} PRIVATE tandem_test_settings $<TARGET_NAME_IF_EXISTS:tandem_test_support> tandem
    ${tandem_component_targets})
  if(TANDEM_PCH)
    target_precompile_headers(${name} REUSE_FROM tandem_test_pch)
  endif()
  tandem_register_test(${name} ${label})
endfunction()

# tandem_add_header_only_tests(name label sources...): a program of three units, each of which defines the library again.
# The first has the helpers of tests/support, refers to every op, and is optimised: the linker keeps its kernels. The
# others have the tests, which include only the headers that they test; umbrella headers provide the definitions.
function(tandem_add_header_only_tests name label)
  set(folder "${PROJECT_BINARY_DIR}/unity/${name}")
  list(TRANSFORM TANDEM_TEST_SUPPORT REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
  string(CONCAT includes ${includes})
  file(CONFIGURE OUTPUT "${folder}/support.cpp" CONTENT "${includes}" @ONLY)
  set_source_files_properties("${folder}/support.cpp" PROPERTIES COMPILE_OPTIONS -O1)
  list(LENGTH ARGN half)
  math(EXPR half "(${half} + 1) / 2")
  tandem_unity(units "${folder}" ${half} ${ARGN})
  add_executable(${name} "${folder}/support.cpp" ${units} $<TARGET_OBJECTS:tandem_test_main>)
  target_compile_options(${name} PRIVATE
    "SHELL:-include tandem/testing.hpp -include tandem/cuda.hpp ${tandem_component_umbrellas}")
  target_link_libraries(${name} PRIVATE tandem_test_settings tandem_header_only ${tandem_header_only_targets})
  add_dependencies(tandem_header_only_tests ${name})
  tandem_register_test(${name} "${label};header_only")
endfunction()

if(TANDEM_HEADER_ONLY_TESTS)
  add_custom_target(tandem_header_only_tests)
endif()

file(GLOB_RECURSE test_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/tests/*_test.cpp")
list(FILTER test_files EXCLUDE REGEX "^(support|packaging|lint|distribute_nccl|data_gpu|cuda/internal)/")
if(NOT TANDEM_WITH_CUDA)
  list(FILTER test_files EXCLUDE REGEX "^cuda/")
endif()
if(NOT TANDEM_WITH_LINALG)
  list(FILTER test_files EXCLUDE REGEX "^cuda/(linalg|spectrum)_test")
endif()
if(NOT TANDEM_WITH_IO)  # golden values are files; the other two save and restore
  list(FILTER test_files EXCLUDE REGEX "^(golden/|allocations/(faults|growth)_test)")
endif()
if(NOT TANDEM_WITH_TRAIN)
  list(FILTER test_files EXCLUDE REGEX "^allocations/fit_test")
endif()
if((TANDEM_WITH_IO OR TANDEM_WITH_DATA) AND NOT TANDEM_WITH_ZLIB)  # golden values are compressed
  target_compile_definitions(tandem_test_base INTERFACE TANDEM_NO_ZLIB)
  list(FILTER test_files EXCLUDE REGEX "^golden/")
endif()
foreach(component ${TANDEM_COMPONENT_NAMES})
  if(NOT component IN_LIST tandem_optional_components)
    tandem_component(c ${component})
    list(JOIN c_folders "|" folders)
    list(FILTER test_files EXCLUDE REGEX "^((${folders})/|golden/with_${component}_|cuda/${component}_)")
  endif()
endforeach()
# Files whose loops take longer than their compilation.
set(loops cpu/broadcast_test.cpp cpu/gemm_half_test.cpp cpu/gemm_test.cpp graph/random_program_test.cpp
  io/safetensors_limits_test.cpp ops/reduce/like_test.cpp ops/reduce/long_sums_test.cpp ops/reduce/reduce_test.cpp ops/reduce/scan_test.cpp signal/fft_test.cpp
  ops/attention/attention_dropout_test.cpp ops/attention/attention_layout_test.cpp ops/attention/attention_test.cpp
  ops/norm/batch_norm_test.cpp)
list(TRANSFORM loops PREPEND "${PROJECT_SOURCE_DIR}/tests/")
set_source_files_properties(${loops} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
# The first tests what names mean at global scope, the second defines a macro before it includes the library.
set(tests_alone programs/names_test.cpp ops/debug/no_asserts_test.cpp)
list(TRANSFORM tests_alone PREPEND "${PROJECT_SOURCE_DIR}/tests/")
set_source_files_properties(${tests_alone} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
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
  tandem_add_test(${group} ${label} ${files_of_${group}})
  if(group MATCHES "^test_serving")  # has clients that speak TLS
    target_link_libraries(${group} PRIVATE "${TANDEM_SSL_LIBRARY}" "${TANDEM_CRYPTO_LIBRARY}")
  endif()
  if(group STREQUAL test_serving_grpc)  # and gRPC
    target_link_libraries(${group} PRIVATE "${TANDEM_GRPC++_LIBRARY}" "${TANDEM_GRPC_LIBRARY}" "${TANDEM_GPR_LIBRARY}"
      "${TANDEM_ABSL_SYNCHRONIZATION_LIBRARY}")
  endif()
  if(group MATCHES "^test_cuda")
    add_dependencies(tandem_cuda_tests ${group})
  else()
    list(APPEND header_only_${label} ${files_of_${group}})
  endif()
endforeach()
# Hidden tests, which take minutes.
foreach(group test_allocations test_distribute test_summary)
  if(TARGET ${group})
    add_test(NAME ${group}_thorough COMMAND ${group} "[thorough]" WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(${group}_thorough PROPERTIES LABELS thorough TIMEOUT 900)
  endif()
endforeach()
# Every allocation of each call fails in turn, where test_allocations tries some of them.
if(TARGET test_allocations)
  add_test(NAME every_allocation_thorough COMMAND test_allocations "faults*" WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  set_tests_properties(every_allocation_thorough PROPERTIES LABELS thorough TIMEOUT 900
    ENVIRONMENT TANDEM_FAULTS=1000000)
endif()
# Not those that replace system calls or make allocations fail, which must be in a program of their own, and not those of
# kernels and single ops, which are the same in both modes: the tests of the op table call every op.
list(FILTER header_only_fast EXCLUDE REGEX
  "/tests/(allocations/(faults|growth)_|io/(failing_calls|safetensors_limits)_|saved_model/killed_save_|cpu/|golden/|ops/[a-z]+/)")
set(TANDEM_HEADER_ONLY_PART "1/1" CACHE STRING "the part of the tests that the header-only program has: the k-th of n, k/n")
string(REGEX REPLACE "/.*" "" part "${TANDEM_HEADER_ONLY_PART}")
string(REGEX REPLACE ".*/" "" parts "${TANDEM_HEADER_ONLY_PART}")
set(number 0)
foreach(file ${header_only_fast})
  math(EXPR number "(${number} + 1) % ${parts}")
  math(EXPR wanted "${part} % ${parts}")
  if(NOT number EQUAL wanted)
    list(REMOVE_ITEM header_only_fast ${file})
  endif()
endforeach()
foreach(label fast slow)
  if(TANDEM_HEADER_ONLY_TESTS AND header_only_${label})
    tandem_add_header_only_tests(test_header_only_${label} ${label} ${header_only_${label}})
  endif()
endforeach()

# For the programs tests/readers/*.py, in which other libraries read our files: built with the tests so that it stays current.
if(TARGET tandem_image_webp AND TARGET tandem_data)
  add_executable(readers_files "${PROJECT_SOURCE_DIR}/tests/readers/files.cpp")
  target_compile_options(readers_files PRIVATE ${TANDEM_WARNINGS})
  target_link_libraries(readers_files PRIVATE tandem_image_webp tandem_data tandem_test_build)
endif()
if(TARGET tandem_summary)
  add_executable(readers_events "${PROJECT_SOURCE_DIR}/tests/readers/events.cpp")
  target_compile_options(readers_events PRIVATE ${TANDEM_WARNINGS})
  target_link_libraries(readers_events PRIVATE tandem_summary tandem_test_build)
endif()
if(TARGET tandem_serving)
  add_executable(readers_serving_models "${PROJECT_SOURCE_DIR}/tests/readers/serving_models.cpp")
  target_compile_options(readers_serving_models PRIVATE ${TANDEM_WARNINGS})
  target_link_libraries(readers_serving_models PRIVATE tandem_saved_model tandem_test_build)
endif()

if(TANDEM_WITH_CUDA)
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/cuda" "${PROJECT_BINARY_DIR}/cuda_tests")
endif()
if(TARGET tandem_distribute_nccl)
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/distribute_nccl" "${PROJECT_BINARY_DIR}/distribute_nccl_tests")
endif()
if(TARGET tandem_data)
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/data_gpu" "${PROJECT_BINARY_DIR}/data_gpu_tests")
endif()
if(Python3_Interpreter_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/tests/lint/CMakeLists.txt")
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/lint" "${PROJECT_BINARY_DIR}/lint")
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/tests/packaging/CMakeLists.txt")
  add_subdirectory("${PROJECT_SOURCE_DIR}/tests/packaging" "${PROJECT_BINARY_DIR}/packaging")
endif()

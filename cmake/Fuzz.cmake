# Fuzzers: tests/fuzz/<name>.cpp, built by clang in header-only mode. As a test each runs for a fixed number of inputs;
# for longer: build/fuzz/safetensors_fuzz CORPUS_FOLDER
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "TANDEM_BUILD_FUZZERS needs clang: use the fuzz preset")
endif()
file(GLOB fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp")
foreach(source ${fuzzers})
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} "${source}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE tandem_io_header_only)
  # The loops are the same text in every set: one keeps the build short.
  target_compile_definitions(${name} PRIVATE TANDEM_HIGHEST_SET=1)
  target_compile_options(${name} PRIVATE -g1 -O1 -fsanitize=fuzzer,address,undefined
    -fno-sanitize=null,object-size,vptr,alignment -fno-sanitize-recover=undefined)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  add_test(NAME ${name} COMMAND ${name} -runs=20000 -seed=1 -max_len=4096 -print_final_stats=0)
endforeach()

# Benchmarks: bench/CMakeLists.txt defines the scenarios and their competitors.
find_package(benchmark REQUIRED)
if(EXISTS "${PROJECT_SOURCE_DIR}/bench/CMakeLists.txt")
  add_subdirectory("${PROJECT_SOURCE_DIR}/bench" "${PROJECT_BINARY_DIR}/bench")
endif()

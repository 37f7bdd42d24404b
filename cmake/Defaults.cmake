# Defaults for a build of Tandem itself; a project that adds Tandem as a subdirectory keeps its own. Included before
# project(), which is when CMake reads them.
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo, Debug")
  endif()
  # -O2: the kernels are written with SIMD packs, so -O3 makes the library larger but not faster.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "flags of a release build")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

  # The sloppiness settings let ccache cache files that are compiled with a precompiled header. With the working
  # directory left out of its keys, the library builds of the packaging tests find the objects of this build.
  find_program(TANDEM_CCACHE ccache)
  mark_as_advanced(TANDEM_CCACHE)
  if(TANDEM_CCACHE)
    set(launcher "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;CCACHE_NOHASHDIR=1;${TANDEM_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}" CACHE STRING "compiler launcher")
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${TANDEM_CCACHE}" CACHE STRING "compiler launcher")
  endif()
endif()

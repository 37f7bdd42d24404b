# In header-only mode a program compiles the kernels itself, with the options of the user's project. Without a build type
# CMake compiles without optimisation, which makes products of matrices 50 times slower: warns at the end of the
# configuration, and names the targets. Also a part of the installed package.

# Appends to result (of the caller) the targets of the directory and of those below it that link a header-only target.
function(tandem_list_header_only_targets result directory)
  if(directory STREQUAL "${tandem_SOURCE_DIR}")  # the library itself, added as a subdirectory
    return()
  endif()
  set(found ${${result}})
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(linked ${target} LINK_LIBRARIES)
    get_target_property(passed_on ${target} INTERFACE_LINK_LIBRARIES)
    if("${linked};${passed_on}" MATCHES "tandem(::|_)([a-z_]+_)?header_only")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(subdirectories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(subdirectory ${subdirectories})
    tandem_list_header_only_targets(found "${subdirectory}")
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(tandem_warn_of_unoptimized_targets)
  set(targets)
  tandem_list_header_only_targets(targets "${CMAKE_SOURCE_DIR}")
  if(targets)
    list(JOIN targets ", " names)
    message(WARNING "These targets use tandem's header-only mode and so compile its kernels, without optimisation, because "
      "no build type is set: ${names}. Set one (-DCMAKE_BUILD_TYPE=Release), or link tandem::tandem, which is always optimised.")
  endif()
endfunction()

get_property(tandem_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
get_property(tandem_warns GLOBAL PROPERTY TANDEM_WARNS_OF_UNOPTIMIZED_TARGETS)
if(NOT tandem_multi_config AND NOT tandem_warns AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CXX_FLAGS MATCHES "-O[1-3sfgz]")
  set_property(GLOBAL PROPERTY TANDEM_WARNS_OF_UNOPTIMIZED_TARGETS ON)
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL tandem_warn_of_unoptimized_targets)
endif()

# A target that links tandem::header_only then compiles the umbrella once, and each of its units reads the result.
option(TANDEM_PRECOMPILE "Precompile tandem/tandem.hpp in the targets that use tandem's header-only mode" OFF)
if(TANDEM_PRECOMPILE)
  get_target_property(tandem_aliased tandem::header_only ALIASED_TARGET)
  if(NOT tandem_aliased)
    set(tandem_aliased tandem::header_only)  # the installed package's
  endif()
  set_property(TARGET ${tandem_aliased} APPEND PROPERTY INTERFACE_PRECOMPILE_HEADERS <tandem/tandem.hpp>)
endif()

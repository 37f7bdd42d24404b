# The library targets: tandem::tandem and tandem::header_only, and two targets of each optional component: tandem::io
# (compiled) and tandem::io_header_only.
# Warnings are for those who work on Tandem: a project that adds it as a subdirectory sees its own alone.
set(TANDEM_WARNINGS)
if(TANDEM_TOP_LEVEL OR TANDEM_WERROR)
  set(TANDEM_WARNINGS -Wall -Wextra $<$<BOOL:${TANDEM_WERROR}>:-Werror>)
endif()

# Uses the headers of a package without exporting the dependency: an installed library then needs neither its headers
# nor its targets.
function(tandem_private_headers target package_target)
  target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:${package_target},INTERFACE_INCLUDE_DIRECTORIES>)
endfunction()

# Sets the language level, the include path and the mode. CMake refuses a target that links two libraries of
# different modes.
function(tandem_common target scope mode)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  set_target_properties(${target} PROPERTIES INTERFACE_TANDEM_MODE ${mode} COMPATIBLE_INTERFACE_STRING TANDEM_MODE)
endfunction()

# tandem_units(result target files...): sets result to units that include so many of the files as TANDEM_UNITY_BATCH says;
# header-only mode compiles all files together, so any of them can be. CMake's own units are in the build tree, where
# ccache takes equal ones of two trees for different files.
function(tandem_units result target)
  set(units)
  set(includes)
  set(count 0)
  list(LENGTH ARGN all)
  foreach(file ${ARGN})
    string(APPEND includes "#include \"${file}\"\n")
    math(EXPR count "${count} + 1")
    math(EXPR left "${count} % ${TANDEM_UNITY_BATCH}")
    if(left EQUAL 0 OR count EQUAL all)
      list(LENGTH units index)
      set(unit "${TANDEM_UNITY_FOLDER}/${target}/unit_${index}.cpp")
      set(before)
      if(EXISTS "${unit}")
        file(READ "${unit}" before)
      endif()
      if(NOT before STREQUAL includes)  # rewritten it would be compiled again
        file(WRITE "${unit}" "${includes}")
      endif()
      list(APPEND units "${unit}")
      set(includes)
    endif()
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

function(tandem_add_compiled target)
  set(files ${ARGN})
  if(TANDEM_UNITY_BATCH GREATER 1)
    tandem_units(files ${target} ${ARGN})
  endif()
  add_library(${target} ${files} "${PROJECT_SOURCE_DIR}/include/tandem/config.hpp")
  tandem_common(${target} PUBLIC compiled)
  # Functions begin on a cache line: where the linker puts the loops of a kernel then does not depend on other functions
  # (otherwise up to 3 % of an LSTM step; costs 3 % of the code's size).
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${TANDEM_WARNINGS};-ffunction-sections;-fdata-sections;-falign-functions=64>")
  if(TANDEM_OPTIMIZE)
    # Comes after the flags of the build type, so that it is what counts.
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<OR:$<STREQUAL:$<CONFIG>,>,$<CONFIG:Debug>>>:-O2>)
  endif()
  target_link_libraries(${target} PUBLIC Threads::Threads)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX DEFINE_SYMBOL "" CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
    CXX_EXTENSIONS OFF VERSION ${TANDEM_VERSION} SOVERSION ${TANDEM_VERSION_MAJOR}.${TANDEM_VERSION_MINOR})
  if(NOT BUILD_SHARED_LIBS)
    # A program that links the archive leaves out the functions that it cannot reach.
    target_link_options(${target} INTERFACE LINKER:--gc-sections)
  endif()
  if(BUILD_SHARED_LIBS OR TANDEM_PIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Every op reads the thread-local slots: with this TLS model that is one load, not a call.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ftls-model=initial-exec>)
  endif()
endfunction()

include(EmbedFused)
function(tandem_add_cuda target)
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cuda/*.cu" "${PROJECT_SOURCE_DIR}/cuda/*.cpp")
  tandem_embed_fused(embedded)
  target_sources(${target} PRIVATE ${kernels} "${embedded}")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE TANDEM_WITH_CUDA=1)
  # Flags are set by hand: CMake before 3.26 does not know nvcc's C++20 flag. cuBLAS is loaded
  # at run time. Rules call constexpr functions of the standard library. Multiply-adds are not fused, as on the CPU.
  # Warning 186: a comparison that is pointless for one dtype is meaningful for others.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr;--fmad=false;-diag-suppress=186>")
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY None)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
endfunction()

# tandem_add_component(name): the two targets of an optional component. Of a package only headers are used; a program
# that links the component needs its library and zlib, too.
function(tandem_add_component name)
  tandem_component(c ${name})
  list(JOIN c_folders "|" folders)
  set(sources ${tandem_all_sources})
  list(FILTER sources INCLUDE REGEX "/src/(${folders})/")
  tandem_add_compiled(tandem_${name} ${sources})
  add_library(tandem::${name} ALIAS tandem_${name})
  set_target_properties(tandem_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(tandem_${name} PUBLIC tandem)
  add_library(tandem_${name}_header_only INTERFACE)
  add_library(tandem::${name}_header_only ALIAS tandem_${name}_header_only)
  set_target_properties(tandem_${name}_header_only PROPERTIES EXPORT_NAME ${name}_header_only)
  target_link_libraries(tandem_${name}_header_only INTERFACE tandem_header_only)
  if(TANDEM_WITH_CUDA AND (c_ops OR c_cuda))  # what needs CUDA is in the library tandem
    target_compile_definitions(tandem_${name} PRIVATE TANDEM_WITH_CUDA=1)
  endif()
  foreach(other ${c_needs})
    target_link_libraries(tandem_${name} PUBLIC tandem_${other})
    target_link_libraries(tandem_${name}_header_only INTERFACE tandem_${other}_header_only)
  endforeach()
  if(c_package)
    tandem_private_headers(tandem_${name} ${c_target})
    target_link_libraries(tandem_${name}_header_only INTERFACE ${c_target})
  endif()
  foreach(library header IN ZIP_LISTS c_libraries c_headers)
    tandem_place(place "${library}" ${header})
    if(library)  # tandem::<library> is made by tandemConfig.cmake
      set(link "$<BUILD_INTERFACE:${TANDEM_${place}_LIBRARY}>" "$<INSTALL_INTERFACE:tandem::${library}>")
      target_link_libraries(tandem_${name} PRIVATE ${link})
      target_link_libraries(tandem_${name}_header_only INTERFACE ${link})
    endif()
    target_include_directories(tandem_${name} SYSTEM PRIVATE "${TANDEM_${place}_INCLUDE_DIR}")
    target_include_directories(tandem_${name}_header_only SYSTEM INTERFACE
      "$<BUILD_INTERFACE:${TANDEM_${place}_INCLUDE_DIR}>")
  endforeach()
  if(c_zlib AND TANDEM_WITH_ZLIB)
    target_link_libraries(tandem_${name} PRIVATE ZLIB::ZLIB)
    target_link_libraries(tandem_${name}_header_only INTERFACE ZLIB::ZLIB)
  elseif(c_zlib)
    target_compile_definitions(tandem_${name} PRIVATE TANDEM_NO_ZLIB)
    target_compile_definitions(tandem_${name}_header_only INTERFACE TANDEM_NO_ZLIB)
  endif()
endfunction()

file(GLOB_RECURSE tandem_all_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cpp")
set(tandem_sources ${tandem_all_sources})
foreach(name ${TANDEM_COMPONENT_NAMES})
  tandem_component(c ${name})
  list(JOIN c_folders "|" folders)
  list(FILTER tandem_sources EXCLUDE REGEX "/src/(${folders})/")
endforeach()

tandem_add_compiled(tandem ${tandem_sources})
add_library(tandem::tandem ALIAS tandem)
if(TANDEM_WITH_CUDA)
  tandem_add_cuda(tandem)
endif()

add_library(tandem_header_only INTERFACE)
add_library(tandem::header_only ALIAS tandem_header_only)
set_target_properties(tandem_header_only PROPERTIES EXPORT_NAME header_only)
tandem_common(tandem_header_only INTERFACE header_only)
target_compile_definitions(tandem_header_only INTERFACE TANDEM_HEADER_ONLY=1)
target_link_libraries(tandem_header_only INTERFACE Threads::Threads)
include(tandemHeaderOnly)

set(tandem_optional_components)
foreach(name ${TANDEM_COMPONENT_NAMES})
  string(TOUPPER ${name} upper)
  if(TANDEM_WITH_${upper})
    tandem_add_component(${name})
    list(APPEND tandem_optional_components ${name})
  endif()
endforeach()

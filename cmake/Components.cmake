# The table of the optional components, components.json, which the lints read, too. The headers of a component may
# include those of the components before it. A component has:
#   about     what it is for, in a few words
#   folders   its folders below include/tandem, src and tests
#   needs     the components without which it is not built: its units link theirs
#   ops       whether it has ops: a table of them, include/tandem/<name>_op_table.hpp, and samples for the tests
#   package, version, target   the CMake package of which it uses the headers, and its target
#   libraries, headers         libraries without a CMake package that it links, and a header of each; headers behind
#             these belong to libraries that are headers alone
#   debian    the Debian packages of the one or the other
#   zlib      whether it reads or writes compressed files
#   cuda      whether it uses what a library built with CUDA has, beside kernels of its ops
# A fuzzer tests/fuzz/<name>_fuzz.cpp and golden values tests/golden/with_<name>_test.cpp belong to it.
# TANDEM_COMPONENT_NAMES has the names, each behind those that it needs: string(JSON) gives them by the alphabet.
set(tandem_component_table "${CMAKE_CURRENT_LIST_DIR}/components.json")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${tandem_component_table}")
file(READ "${tandem_component_table}" tandem_component_table)

# tandem_component(prefix name): sets prefix_about and so on, empty where the table has no value.
function(tandem_component prefix name)
  foreach(field about ops package version target zlib cuda)
    string(JSON value ERROR_VARIABLE missing GET "${tandem_component_table}" ${name} ${field})
    if(missing)
      set(value)
    endif()
    set(${prefix}_${field} "${value}" PARENT_SCOPE)
  endforeach()
  foreach(field folders needs libraries headers debian)
    string(JSON length ERROR_VARIABLE missing LENGTH "${tandem_component_table}" ${name} ${field})
    set(values)
    if(NOT missing)
      math(EXPR last "${length} - 1")
      foreach(i RANGE ${last})
        string(JSON value GET "${tandem_component_table}" ${name} ${field} ${i})
        list(APPEND values ${value})
      endforeach()
    endif()
    set(${prefix}_${field} ${values} PARENT_SCOPE)
  endforeach()
endfunction()

# tandem_place(place library header): the name, in capitals, by which the cache has a library's places.
function(tandem_place result library header)
  if(NOT library)  # headers alone: rapidjson/reader.h is RAPIDJSON_READER_H
    string(MAKE_C_IDENTIFIER "${header}" library)
  endif()
  string(TOUPPER "${library}" library)
  set(${result} "${library}" PARENT_SCOPE)
endfunction()

set(names)
string(JSON last LENGTH "${tandem_component_table}")
math(EXPR last "${last} - 1")
foreach(i RANGE ${last})
  string(JSON name MEMBER "${tandem_component_table}" ${i})
  list(APPEND names ${name})
endforeach()
set(TANDEM_COMPONENT_NAMES)
while(names)
  list(POP_FRONT names name)
  tandem_component(c ${name})
  list(REMOVE_ITEM c_needs ${TANDEM_COMPONENT_NAMES})
  if(c_needs)
    list(APPEND names ${name})
  else()
    list(APPEND TANDEM_COMPONENT_NAMES ${name})
  endif()
endwhile()

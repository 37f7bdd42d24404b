# The table of the optional components, components.json, which the lints read, too. The headers of a component may
# include those of the components before it. A component has:
#   about     what it is for, in a few words
#   folders   its folders below include/tandem, src and tests
#   umbrella  the name of the header that has all of it, if that is not the component's
#   ops       whether it has ops: a table of them, include/tandem/<name>_op_table.hpp, and samples for the tests
#   package, version, target   the CMake package of which it uses the headers, and its target
#   library, header            a library without a CMake package that it links, and a header of that
#   debian    the Debian package of the one or the other
#   zlib      whether it reads or writes compressed files
# A fuzzer tests/fuzz/<name>_fuzz.cpp and golden values tests/golden/with_<name>_test.cpp belong to it.
# TANDEM_COMPONENT_NAMES has the names.
set(tandem_component_table "${CMAKE_CURRENT_LIST_DIR}/components.json")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${tandem_component_table}")
file(READ "${tandem_component_table}" tandem_component_table)
string(JSON last LENGTH "${tandem_component_table}")
math(EXPR last "${last} - 1")
set(TANDEM_COMPONENT_NAMES)
foreach(i RANGE ${last})
  string(JSON name MEMBER "${tandem_component_table}" ${i})
  list(APPEND TANDEM_COMPONENT_NAMES ${name})
endforeach()

# tandem_component(prefix name): sets prefix_about and so on, empty where the table has no value.
function(tandem_component prefix name)
  foreach(field about umbrella ops package version target library header debian zlib)
    string(JSON value ERROR_VARIABLE missing GET "${tandem_component_table}" ${name} ${field})
    if(missing)
      set(value)
    endif()
    set(${prefix}_${field} "${value}" PARENT_SCOPE)
  endforeach()
  string(JSON last LENGTH "${tandem_component_table}" ${name} folders)
  math(EXPR last "${last} - 1")
  set(folders)
  foreach(i RANGE ${last})
    string(JSON folder GET "${tandem_component_table}" ${name} folders ${i})
    list(APPEND folders ${folder})
  endforeach()
  set(${prefix}_folders ${folders} PARENT_SCOPE)
endfunction()

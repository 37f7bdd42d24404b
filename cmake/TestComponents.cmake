# What tests and fuzzers need of the optional components that are built: tandem_component_targets, the same in header-only
# mode (tandem_header_only_targets) and tandem_component_macros (TANDEM_WITH_LINALG=1, ...: tests/support/tested_ops.hpp).
# tandem_filter_samples(sources) leaves out the samples of the ops of other components.
set(tandem_component_targets)
set(tandem_header_only_targets)
set(tandem_component_macros)
foreach(component ${tandem_optional_components})
  string(TOUPPER ${component} upper)
  list(APPEND tandem_component_targets tandem_${component})
  list(APPEND tandem_header_only_targets tandem_${component}_header_only)
  list(APPEND tandem_component_macros TANDEM_WITH_${upper}=1)
endforeach()

macro(tandem_filter_samples sources)
  foreach(component ${TANDEM_COMPONENT_NAMES})
    if(NOT component IN_LIST tandem_optional_components)
      list(FILTER ${sources} EXCLUDE REGEX "/op_samples_${component}\\.cpp$")
    endif()
  endforeach()
endmacro()

# Reads TANDEM_VERSION from include/tandem/config.hpp, the only place that defines the version.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/include/tandem/config.hpp" lines REGEX "#define TANDEM_VERSION_(MAJOR|MINOR|PATCH) ")
foreach(part MAJOR MINOR PATCH)
  if(NOT "${lines}" MATCHES "TANDEM_VERSION_${part} ([0-9]+)")
    message(FATAL_ERROR "include/tandem/config.hpp does not define TANDEM_VERSION_${part}")
  endif()
  set(TANDEM_VERSION_${part} ${CMAKE_MATCH_1})
endforeach()
set(TANDEM_VERSION "${TANDEM_VERSION_MAJOR}.${TANDEM_VERSION_MINOR}.${TANDEM_VERSION_PATCH}")

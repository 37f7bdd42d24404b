# Install rules and the package files. Each component has a separate export, so that a user of the compiled library
# does not need a package that only another component uses.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(TANDEM_COMPONENTS tandem header_only)
set(tandem_targets_of_tandem tandem)
set(tandem_targets_of_header_only tandem_header_only)
foreach(component ${tandem_optional_components})
  list(APPEND TANDEM_COMPONENTS ${component} ${component}_header_only)
  set(tandem_targets_of_${component} tandem_${component})
  set(tandem_targets_of_${component}_header_only tandem_${component}_header_only)
endforeach()

set(tandem_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tandem")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tandemConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/tandemConfig.cmake" INSTALL_DESTINATION "${tandem_package_dir}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/tandemHeaderOnly.cmake" "${PROJECT_BINARY_DIR}/tandemHeaderOnly.cmake" COPYONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tandemConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

foreach(component ${TANDEM_COMPONENTS})
  install(TARGETS ${tandem_targets_of_${component}} EXPORT tandem_${component})
  export(EXPORT tandem_${component} NAMESPACE tandem:: FILE "${PROJECT_BINARY_DIR}/tandem_${component}.cmake")
endforeach()

if(TANDEM_INSTALL)
  foreach(component ${TANDEM_COMPONENTS})
    install(EXPORT tandem_${component} NAMESPACE tandem:: DESTINATION "${tandem_package_dir}")
  endforeach()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(FILES "${PROJECT_BINARY_DIR}/tandemConfig.cmake" "${PROJECT_BINARY_DIR}/tandemConfigVersion.cmake"
    "${PROJECT_BINARY_DIR}/tandemHeaderOnly.cmake"
    DESTINATION "${tandem_package_dir}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endif()

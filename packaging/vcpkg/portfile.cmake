# An overlay port of the checkout that it lies in: vcpkg install tandem --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
  data TANDEM_WITH_DATA
  distribute TANDEM_WITH_DISTRIBUTE
  distribute-gloo TANDEM_WITH_DISTRIBUTE_GLOO
  distribute-mpi TANDEM_WITH_DISTRIBUTE_MPI
  distribute-nccl TANDEM_WITH_DISTRIBUTE_NCCL
  image TANDEM_WITH_IMAGE
  image-webp TANDEM_WITH_IMAGE_WEBP
  io TANDEM_WITH_IO
  linalg TANDEM_WITH_LINALG
  plot TANDEM_WITH_PLOT
  saved-model TANDEM_WITH_SAVED_MODEL
  serving TANDEM_WITH_SERVING
  serving-grpc TANDEM_WITH_SERVING_GRPC
  signal TANDEM_WITH_SIGNAL
  strings TANDEM_WITH_STRINGS
  summary TANDEM_WITH_SUMMARY
  train TANDEM_WITH_TRAIN)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features} -DTANDEM_BUILD_TESTS=OFF -DTANDEM_BUILD_EXAMPLES=OFF -DTANDEM_COMPILER_HEAP=OFF -DTANDEM_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tandem)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

# Tandem's workers: compiled mode for every scenario; header-only mode, at plain -O2 and for x86-64-v4, for the
# overhead scenarios.
file(GLOB tandem_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/tandem.cpp")
if(NOT TARGET tandem_image)
  list(FILTER tandem_sources EXCLUDE REGEX "/data_pictures/")
endif()
if(tandem_sources AND EXISTS "${PROJECT_SOURCE_DIR}/include/tandem/tandem.hpp")
  bench_worker(tandem OPTIONS -O2 LINK tandem::summary tandem::train $<TARGET_NAME_IF_EXISTS:tandem::image> tandem::data tandem::io
    tandem::tandem)
  set(overhead_scenarios apply_overhead chain100)
  bench_worker(tandem_header_only SOURCE_NAME tandem SCENARIOS ${overhead_scenarios} OPTIONS -O2
    LINK tandem::header_only)
  bench_worker(tandem_header_only_v4 SOURCE_NAME tandem SCENARIOS ${overhead_scenarios} OPTIONS -O2 -march=x86-64-v4
    LINK tandem::header_only)
endif()

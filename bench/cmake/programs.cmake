# startup: a hello-world program per competitor. compile_cost: the compiler's command line for a source per
# competitor. memory: a worker that runs a single case. Each becomes a line `scenario|competitor|word|word...` of
# commands.txt, which the driver runs.
function(bench_command scenario competitor)
  string(JOIN "|" line ${scenario} ${competitor} ${ARGN})
  set(command_lines "${command_lines}${line}\n" PARENT_SCOPE)
endfunction()

function(bench_hello competitor)
  cmake_parse_arguments(arg "" "" "OPTIONS;LINK;INCLUDE" ${ARGN})
  add_executable(hello_${competitor} startup/${competitor}.cpp)
  target_compile_features(hello_${competitor} PRIVATE cxx_std_20)
  target_compile_options(hello_${competitor} PRIVATE -O2 ${arg_OPTIONS})
  target_include_directories(hello_${competitor} SYSTEM PRIVATE ${arg_INCLUDE})
  target_link_libraries(hello_${competitor} PRIVATE ${arg_LINK})
  set_target_properties(hello_${competitor} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()

set(programs "${CMAKE_CURRENT_BINARY_DIR}")
set(sources "${CMAKE_CURRENT_SOURCE_DIR}/compile_cost")
set(compile "${CMAKE_CXX_COMPILER}" -std=c++20 -O2 -c -o /dev/null)
set(tandem_include "-I${PROJECT_SOURCE_DIR}/include")

bench_hello(eigen LINK Eigen3::Eigen)
bench_command(startup/hello eigen "${programs}/hello_eigen")
get_target_property(eigen_include Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
bench_command(compile_cost/umbrella eigen ${compile} "-I${eigen_include}" "${sources}/eigen_include.cpp")
if(torch_folders)
  bench_hello(libtorch LINK ${torch_link} INCLUDE ${torch_include})
  bench_command(startup/hello libtorch "${programs}/hello_libtorch")
  set(torch_flags ${torch_include})
  list(TRANSFORM torch_flags PREPEND -I)
  bench_command(compile_cost/umbrella libtorch ${compile} ${torch_flags} "${sources}/libtorch_include.cpp")
  bench_command(compile_cost/small_model libtorch ${compile} ${torch_flags} "${sources}/libtorch_model.cpp")
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/include/tandem/tandem.hpp")
  bench_hello(tandem LINK tandem::tandem)
  bench_command(startup/hello tandem "${programs}/hello_tandem")
  foreach(part umbrella=tandem_include matmul=tandem_matmul small_model=tandem_model)
    string(REPLACE "=" ";" part ${part})
    list(GET part 0 scenario)
    list(GET part 1 source)
    bench_command(compile_cost/${scenario} tandem ${compile} ${tandem_include} "${sources}/${source}.cpp")
    bench_command(compile_cost/${scenario}_header_only tandem ${compile} ${tandem_include} -DTANDEM_HEADER_ONLY=1
      "${sources}/${source}.cpp")
  endforeach()
endif()

# Our side of time_to_loss/program.py.
if(TARGET tandem_io)
  add_executable(time_to_loss time_to_loss/train.cpp)
  target_compile_options(time_to_loss PRIVATE -O2 -Wall -Wextra)
  target_link_libraries(time_to_loss PRIVATE tandem::io fmt::fmt)
  set_target_properties(time_to_loss PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endif()

# Our side of summary/program.py.
if(TARGET tandem_summary)
  add_executable(summary_sizes summary/sizes.cpp)
  target_compile_options(summary_sizes PRIVATE -O2 -Wall -Wextra)
  target_link_libraries(summary_sizes PRIVATE tandem::summary fmt::fmt)
  set_target_properties(summary_sizes PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endif()

# Steps of Trainer::fit against those of a loop by hand, in turns (not in the driver's tables).
if(TARGET tandem_summary)
  add_executable(fit_step fit_step/program.cpp)
  target_compile_options(fit_step PRIVATE -O2 -Wall -Wextra)
  target_link_libraries(fit_step PRIVATE tandem::summary tandem::train tandem::data tandem::tandem fmt::fmt
    benchmark::benchmark)
  set_target_properties(fit_step PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endif()

# Our side of data_pictures/program.py.
if(TARGET tandem_data AND TARGET tandem_image)
  add_executable(data_memory data_pictures/memory.cpp)
  target_compile_options(data_memory PRIVATE -O2 -Wall -Wextra)
  target_link_libraries(data_memory PRIVATE tandem::data tandem::image fmt::fmt)
  set_target_properties(data_memory PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endif()

# Of several ranks: mpirun -np 2 build/release/bench/distribute_all_reduce, which compares with MPI itself.
if(TARGET tandem_distribute_mpi)
  foreach(program all_reduce sharded_embedding)
    add_executable(distribute_${program} distribute/${program}.cpp)
    target_compile_options(distribute_${program} PRIVATE -O2 -Wall -Wextra)
    target_include_directories(distribute_${program} SYSTEM PRIVATE "${TANDEM_MPI_INCLUDE_DIR}")
    target_link_libraries(distribute_${program} PRIVATE tandem::distribute_mpi fmt::fmt "${TANDEM_MPI_LIBRARY}")
    set_target_properties(distribute_${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endforeach()
endif()
# Beside PyTorch's DistributedDataParallel: distribute/program.py.
if(TARGET tandem_distribute_mpi AND TARGET tandem_distribute_gloo)
  add_executable(distribute_step distribute/step.cpp)
  target_compile_options(distribute_step PRIVATE -O2 -Wall -Wextra)
  target_link_libraries(distribute_step PRIVATE tandem::distribute_mpi tandem::distribute_gloo fmt::fmt)
  set_target_properties(distribute_step PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endif()

# A model server beside servers that only answer: requests per second (not in the driver's tables).
if(TARGET tandem_serving_grpc)
  add_executable(bench_serving serving/main.cpp serving/life.cpp)
  target_compile_options(bench_serving PRIVATE -O2 -Wall -Wextra)
  target_include_directories(bench_serving PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(bench_serving PRIVATE tandem::serving_grpc fmt::fmt "${TANDEM_GRPC++_LIBRARY}"
    "${TANDEM_GRPC_LIBRARY}" "${TANDEM_GPR_LIBRARY}" "${TANDEM_ABSL_SYNCHRONIZATION_LIBRARY}")
  set_target_properties(bench_serving PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endif()

# bench_memory(scenario case competitor...): the peak memory of running the case for half a second.
function(bench_memory scenario case)
  foreach(competitor ${ARGN})
    string(REGEX MATCH "^[^@]+" worker ${competitor})
    string(REGEX MATCH "@.*" variant ${competitor})
    if(TARGET worker_${worker})
      bench_command(memory/${scenario} ${competitor} "${programs}/worker_${worker}" --threads=1
        --benchmark_format=json "--benchmark_filter=^${case}${variant}/real_time$")
    endif()
  endforeach()
  set(command_lines "${command_lines}" PARENT_SCOPE)
endfunction()
bench_memory(mlp_step mlp_step/784_256_256_10_b128_adam tandem tandem@traced libtorch)
bench_memory(char_rnn_step char_rnn_step/2x256_b50_T50_v80_adam tandem tandem@traced libtorch)

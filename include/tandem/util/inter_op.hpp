// Operations of one graph that run at the same time: how many may, and on which threads. Not here: the threads of one
// operation (cpu/parallel.hpp, which has the definitions), which operations are independent (graph/exec/branches.hpp).
#pragma once
#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::config {

/// Sets how many independent operations of a traced function may run at the same time, on the threads that one
/// operation would use otherwise. Functions that are traced (with unknown sizes: called for the first time with new
/// sizes) from then on find their independent branches, such as the two directions of a bidirectional layer, and run
/// those at the same time that take longer one after another. Results are equal, bit for bit, and so are errors. Values
/// of branches share no memory, so a call needs more of it. While a Profiler records, branches run one after another.
///   threads   1: one operation after another (the default)
///   throws    errors::InvalidArgumentError if threads is not in [1, 64]
TANDEM_API void set_inter_op_parallelism_threads(int threads);

/// Returns how many independent operations of a traced function may run at the same time.
TANDEM_API int inter_op_parallelism_threads();

}  // namespace TANDEM_NS::config

namespace TANDEM_NS::detail {

/// The number of threads that one operation may use.
TANDEM_API int threads_of_operation();
/// Calls task(context, i, i + 1) for each i in [0, tasks), at the same time on up to `threads` threads of the pool, on
/// which nested calls of parallel_for then run serially; or one after another if the pool is occupied. Returns after
/// the last.
///   task  must not throw
TANDEM_API void run_tasks(int tasks, int threads, void (*task)(void* context, i64 begin, i64 end), void* context);

}  // namespace TANDEM_NS::detail

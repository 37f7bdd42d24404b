// The thread pool: parallel_for, the number of threads, and replacement by another executor.
// Not here: what is worth splitting (each kernel chooses its grain), and reductions (a kernel combines its partial
// results itself, in an order that does not depend on the number of threads).
#pragma once
#include <type_traits>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::config {

/// Sets the number of threads, including the calling one, that one operation may use.
///   threads   1: everything runs on the caller's thread; 0 (the default): as many as the environment variable
///             TANDEM_NUM_THREADS says, or else as the process's affinity mask allows
///   throws    errors::InvalidArgumentError if threads is negative or above 1024
/// May be called at any time from any thread; work in progress keeps the number it started with.
TANDEM_API void set_intra_op_parallelism_threads(int threads);

/// Returns the number of threads, including the calling one, that one operation may use.
TANDEM_API int intra_op_parallelism_threads();

}  // namespace TANDEM_NS::config

namespace TANDEM_NS::cpu {

/// An external thread pool used in place of the library's.
///   run       calls piece(argument, i) once for each i in [0, pieces), in any order, on any threads, and returns
///             after the last; piece never throws. Several threads may call run at once.
///   context   passed to run
struct Executor {
  void (*run)(void* context, int pieces, void (*piece)(void* argument, int index), void* argument) = nullptr;
  void* context = nullptr;
};

/// Makes parallel_for use `executor` from now on; `{}` restores the library's own pool. The number of pieces still
/// follows config::intra_op_parallelism_threads(). `executor.context` must outlive every call that started before
/// the change.
TANDEM_API void set_executor(const Executor& executor);

/// True on a thread that is running a piece of a parallel_for: a nested parallel_for would run serially here.
TANDEM_API bool in_parallel_region();

using RangeTask = void (*)(void* context, i64 begin, i64 end);

/// The type-erased form of parallel_for. `wake`: the work is worth waking sleeping threads (about 50 us), whatever n
/// / grain is.
TANDEM_API void parallel_range(i64 n, i64 grain, RangeTask task, void* context, bool wake = false);

// One function for the plain call and for the pool's, so that header-only programs compile the body only once.
template <class Body>
#if TANDEM_IS_HEADER_ONLY
[[gnu::noinline]]
#endif
inline void
call_range(void* body, i64 begin, i64 end) {
  (*static_cast<Body*>(body))(begin, end);
}

/// Calls body(begin, end) on disjoint ranges that cover [0, n), possibly on several threads, and returns after the
/// last.
///   n         the number of items; nothing is called when n <= 0
///   grain     the smallest number of items worth handing to another thread (about 10 us of work); n <= grain is one
///             plain call
///   body      callable as void(i64 begin, i64 end), on several threads at once
///   throws    what body threw first; pieces that had not started by then are skipped
/// Waiting threads spin for about 30 us, then sleep. Sleeping threads are woken only for long work (at least four
/// grains per thread) or during a stream of calls, because waking takes longer than a grain's work. Nested calls,
/// and calls while another user thread occupies the pool, run serially on the caller's thread. The ranges depend on
/// the number of threads, so the result of a body must not depend on where a range begins.
template <class F>
inline void parallel_for(i64 n, i64 grain, F&& body) {
  void* context = const_cast<void*>(static_cast<const void*>(__builtin_addressof(body)));
  if (n > grain) return parallel_range(n, grain, &call_range<std::remove_reference_t<F>>, context);
  if (n > 0) TANDEM_IS_HEADER_ONLY ? call_range<std::remove_reference_t<F>>(context, 0, n) : body(i64(0), n);
}

/// parallel_for for a kernel that has already divided its work into `parts` of similar size, a few per thread.
///   wake      whether the total work is worth waking sleeping threads (about 50 us)
template <class F>
inline void parallel_parts(i64 parts, bool wake, F&& body) {
  void* context = const_cast<void*>(static_cast<const void*>(__builtin_addressof(body)));
  parallel_range(parts, 1, &call_range<std::remove_reference_t<F>>, context, wake);
}

}  // namespace TANDEM_NS::cpu

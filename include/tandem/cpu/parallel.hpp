// The one thread pool: parallel_for, its size, and the way to put another executor in its place.
// Not here: what is worth splitting (each kernel chooses its grain), and reductions (a kernel combines its pieces
// itself, in an order that does not depend on how many threads there were).
#pragma once
#include <type_traits>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::config {

/// Sets how many threads, the calling one included, one operation may use.
///   threads   1: everything runs on the caller's thread; 0: as many as the process's affinity mask allows (the
///   default) throws    errors::InvalidArgumentError if threads is negative or above 1024
/// May be called at any time from any thread; work that is under way keeps the size that it started with.
TANDEM_API void set_intra_op_parallelism_threads(int threads);

/// How many threads, the calling one included, one operation may use.
TANDEM_API int intra_op_parallelism_threads();

}  // namespace TANDEM_NS::config

namespace TANDEM_NS::cpu {

/// Somebody else's threads in place of the pool's.
///   run       calls piece(argument, i) once for each i in [0, pieces), in any order, on any threads, and returns after
///             the last; piece never throws. Several threads may call run at once.
///   context   handed to run
struct Executor {
  void (*run)(void* context, int pieces, void (*piece)(void* argument, int index), void* argument) = nullptr;
  void* context = nullptr;
};

/// Makes parallel_for use `executor` from now on; `{}` brings the own pool back. The number of pieces still follows
/// config::intra_op_parallelism_threads(). `executor.context` must outlive every call that started before the change.
TANDEM_API void set_executor(const Executor& executor);

/// True on a thread that is running a piece of a parallel_for: a further parallel_for would run serially here.
TANDEM_API bool in_parallel_region();

using RangeTask = void (*)(void* context, i64 begin, i64 end);

/// parallel_for without its template. `wake`: the work is worth waking sleeping threads for (about 50 us), whatever
/// n / grain says.
TANDEM_API void parallel_range(i64 n, i64 grain, RangeTask task, void* context, bool wake = false);

// One function for the plain call and for the pool's: header-only programs compile the body once, not twice.
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
///   n         how many items; nothing is called when n <= 0
///   grain     the least number of items that is worth a hand-over (about 10 us of work); n <= grain is one plain call
///   body      callable as void(i64 begin, i64 end), on several threads at once
///   throws    what body threw first; pieces that had not begun by then are left out
/// Threads that wait for work spin for some 30 us, then sleep; sleeping ones are woken only for long work (four grains
/// a thread and more) or in the midst of a stream of calls, since that takes longer than a grain's work. Nested calls,
/// and calls while another user thread occupies the pool, run serially on the caller's thread. The ranges depend on the
/// number of threads: a body must not let its result depend on where a range begins.
template <class F>
inline void parallel_for(i64 n, i64 grain, F&& body) {
  void* context = const_cast<void*>(static_cast<const void*>(__builtin_addressof(body)));
  if (n > grain) return parallel_range(n, grain, &call_range<std::remove_reference_t<F>>, context);
  if (n > 0) TANDEM_IS_HEADER_ONLY ? call_range<std::remove_reference_t<F>>(context, 0, n) : body(i64(0), n);
}

/// parallel_for for a kernel that has cut its work into `parts` of about the same size itself, a few for each thread.
///   wake      whether all of it together is worth waking sleeping threads for (about 50 us)
template <class F>
inline void parallel_parts(i64 parts, bool wake, F&& body) {
  void* context = const_cast<void*>(static_cast<const void*>(__builtin_addressof(body)));
  parallel_range(parts, 1, &call_range<std::remove_reference_t<F>>, context, wake);
}

}  // namespace TANDEM_NS::cpu

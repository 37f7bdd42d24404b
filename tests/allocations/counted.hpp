// Calls of operator new and of aligned_alloc (the library's blocks) on this thread: counted, and made to fail where a
// test says so. Their definitions are in counted_new.hpp.
#pragma once
#include <atomic>

namespace counted {
inline constinit thread_local long news = 0;
inline constinit std::atomic<long> live_news{0};  // of all threads

/// Which allocations of this thread fail: the one after `left` others and, with `all`, those that follow.
struct Failing {
  long left = -1;  // -1: none, or it has failed
  bool all = false, failed = false;

  /// Whether the present allocation fails.
  bool now() {
    if (left < 0) return failed && all;
    if (left-- > 0) return false;
    return failed = true;
  }
};
inline constinit thread_local Failing failing;
inline constinit thread_local long allocations = 0;  // of both kinds

/// Counts an allocation; returns whether it fails.
inline bool fails() {
  ++allocations;
  return failing.now();
}
}  // namespace counted

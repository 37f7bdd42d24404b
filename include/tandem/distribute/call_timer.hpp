// CallTimer: when an operation of a group was begun and ended, and for how long its caller was held. Part of the
// component tandem::distribute. For definitions.
#pragma once
#include <algorithm>
#include <string>

#include "tandem/core/profile.hpp"
#include "tandem/distribute/transport.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl {

/// Times an operation for the profiler. Without one it reads no clock.
class CallTimer {
 public:
  /// An operation begins.
  CallTimer() : begun_(tandem::detail::profile_begin()) {}
  /// It was compared with those of the other ranks, which holds its caller.
  void compared() {
    if (begun_ >= 0) held_ = tandem::detail::nanoseconds_now() - begun_;
  }
  /// The caller comes to wait for its end.
  void waits() {
    if (begun_ >= 0) waited_ = tandem::detail::nanoseconds_now();
  }
  /// It has ended.
  ///   what  "all_reduce bucket 3 of 7 (4.2 MB, 'dense/kernel' ..)"
  void ended(const char* op, const std::string& what, const Collective& call, const Pending& pending) const {
    if (begun_ < 0) return;
    const i64 now = tandem::detail::nanoseconds_now(), known = pending.ended();
    const i64 end = known ? std::max(known, begun_) : now;
    tandem::detail::profile_collective(
        {.op = op,
         .name = what,
         .shapes = std::string(tandem::name(call.dtype)) + "[" + std::to_string(call.count) + "]",
         .bytes = call.count * static_cast<i64>(size_of(call.dtype)),
         .start = begun_,
         .end = end,
         .exposed = std::min(held_ + now - waited_, end - begun_)});
  }

 private:
  i64 begun_;  // -1: it is not timed
  i64 held_ = 0, waited_ = 0;
};

}  // namespace TANDEM_NS::distribute::impl

// CallTimer: when an operation of a group was begun and ended, and for how long its caller waited. Part of the
// component tandem::distribute. For definitions.
#pragma once
#include <algorithm>
#include <new>
#include <string>

#include "tandem/base/span.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/distribute/call_times.hpp"
#include "tandem/distribute/transport.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl {

/// Times an operation for the profiler and for reports. Without either it reads no clock.
class CallTimer {
 public:
  /// An operation begins.
  ///   counted  its transport, which has the clock of reports; null: it is in no report
  explicit CallTimer(const Transport* counted) : transport_(counted) {
    profiled_.begun = tandem::detail::profile_begin();
    if (transport_) counted_.begun = transport_->now();
  }
  i64 begun() const { return counted_.begun; }
  /// It was compared with those of the other ranks, for which its caller has waited.
  void compared() {
    each([](Clock& c, i64 now) { c.waited = now - c.begun; });
  }
  /// The caller comes to wait for its end.
  void waits() {
    each([](Clock& c, i64 now) { c.came = now; });
  }
  /// It has ended.
  ///   what  "all_reduce bucket 3 of 7 (4.2 MB, 'dense/kernel' ..)"
  void ended(const char* op, const std::string& what, const Collective& call, const Pending& pending,
             Span<CallTimes* const> reports) {
    const i64 known = pending.ended();
    CallTime profiled, counted;
    each([&](Clock& c, i64 now) { (&c == &profiled_ ? profiled : counted) = c.end(now, known); });
    try {
      if (counted_.begun >= 0)
        for (CallTimes* const report : reports) report->add(what, call, counted);
      if (profiled_.begun >= 0) add_event(op, what, call, profiled);
    } catch (const std::bad_alloc&) {
      // The operation has been run, so that its caller must not get an error: it is in no report.
    }
  }

 private:
  static void add_event(const char* op, const std::string& what, const Collective& call, const CallTime& time) {
    tandem::detail::profile_collective(
        {.op = op,
         .name = what,
         .shapes = std::string(tandem::name(call.dtype)) + "[" + std::to_string(call.count) + "]",
         .bytes = call.count * static_cast<i64>(size_of(call.dtype)),
         .start = time.begun,
         .end = time.ended,
         .exposed = time.exposed});
  }
  struct Clock {
    i64 begun = -1;  // -1: it does not run
    i64 waited = 0, came = 0;
    CallTime end(i64 now, i64 known) const {
      const i64 end = known ? std::max(known, begun) : now;
      return {begun, end, std::min(waited + now - came, end - begun)};
    }
  };
  template <class F>
  void each(const F& f) {
    if (profiled_.begun >= 0) f(profiled_, tandem::detail::nanoseconds_now());
    if (counted_.begun >= 0) f(counted_, transport_->now());
  }

  const Transport* transport_;
  Clock profiled_{}, counted_{};
};

}  // namespace TANDEM_NS::distribute::impl

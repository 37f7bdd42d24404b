// The storage of a profiler's events, and its JSON output.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "tandem/base/error.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/util/at_fork.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/sort.hpp"
#include "tandem/util/text_file.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE TANDEM_PRIVATE constinit std::atomic<bool> profiling{false};
TANDEM_INLINE TANDEM_PRIVATE constinit std::atomic<void (*)(const TimedOp&, i64)> op_recorder{nullptr};

struct Recording final : Opaque {
  explicit Recording(ProfilerOptions o) : options(o) {}
  const char* kind() const override { return "recording"; }

  const ProfilerOptions options;
  i64 begin = 0;
  LeanVector<ProfileEvent> events;
  std::size_t dropped = 0;
  // Of collectives: those that overlap have different ones, as viewers draw the events of a lane inside each other.
  struct Lane {
    int thread = 0;
    i64 end = 0;
  };
  LeanVector<Lane> lanes;
};
// Guards the current recording and all recordings.
inline constinit std::mutex profile_mutex;
inline constinit Recording* open_recording = nullptr;

inline constexpr ForkHooks profile_fork_hooks{[] { profile_mutex.lock(); }, [] { profile_mutex.unlock(); },
                                              [] { profile_mutex.unlock(); }};
TANDEM_INLINE const bool profile_hooked_fork = (at_fork(ForkStage::profiler, profile_fork_hooks), true);

TANDEM_INLINE i64 profile_now() { return nanoseconds_now(); }
TANDEM_INLINE i64 profile_begin() { return is_profiling() ? profile_now() : -1; }
inline constinit std::atomic<int> profile_threads{0};
inline int profile_thread() {
  static constinit thread_local int mine = 0;
  return mine ? mine : mine = ++profile_threads;
}
inline bool is_collective(const ProfileEvent& e) { return std::strcmp(e.kind, "collective") == 0; }
inline int lane_for(Recording& r, i64 start, i64 end) {
  std::size_t i = 0;
  while (i < r.lanes.size() && r.lanes[i].end > start) ++i;
  if (i == r.lanes.size()) r.lanes.push_back({++profile_threads, end});
  r.lanes[i].end = end;
  return r.lanes[i].thread;
}
// The profiler may have stopped since the op began, and another may have started.
inline void keep(ProfileEvent e, i64 start, i64 end) {
  const bool has_lane = is_collective(e);
  if (!has_lane) e.thread = profile_thread();
  e.duration = end - start;
  const std::lock_guard lock(profile_mutex);
  Recording* r = open_recording;
  if (!r || start < r->begin) return;
  e.start = start - r->begin;
  if (has_lane) e.thread = lane_for(*r, start, end);
  if (r->events.size() < r->options.max_events) r->events.push_back(std::move(e));
  else ++r->dropped;
}
// Runs f, which keeps an event. Without memory for it the event is dropped: the op has been run, and the destructor of
// a scope must not raise.
template <class F>
void or_drop(const F& f) {
  try {
    f();
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(profile_mutex);
    if (open_recording) ++open_recording->dropped;
  }
}
inline bool must_synchronize() {
  const std::lock_guard lock(profile_mutex);
  return open_recording && open_recording->options.synchronize;
}
inline ProfileEvent event_of(const TimedOp& op) {
  ProfileEvent e;
  e.kind = op.kind, e.op = op.op, e.name = op.name.str(op.op), e.where = op.where;
  for (const Spec* s : op.in) e.shapes += (e.shapes.empty() ? "" : " x ") + to_string(*s);
  e.shapes += " ->";
  for (const Spec* s : op.out) e.shapes += " " + to_string(*s);
  for (const auto list : {op.in, op.out})
    for (const Spec* s : list)
      if (s->shape.is_fully_defined()) e.bytes += static_cast<i64>(s->bytes());
  return e;
}
inline void record_op(const TimedOp& op, i64 start) {
  const Spec* where = !op.out.empty() ? op.out[0] : !op.in.empty() ? op.in[0] : nullptr;
  if (where && where->device.kind != Device::cpu && must_synchronize())
    backend_of(where->device).synchronize(where->device.index);
  const i64 end = profile_now();
  or_drop([&] { keep(event_of(op), start, end); });
}

TANDEM_INLINE void profile_collective(const TimedCollective& c) {
  or_drop([&] {
    ProfileEvent e;
    e.kind = "collective", e.op = c.op, e.name = c.name, e.shapes = c.shapes;
    e.bytes = c.bytes, e.exposed = c.exposed;
    keep(std::move(e), c.start, c.end);
  });
}

/// Quotes a JSON string; bytes that are not valid UTF-8 become U+FFFD.
TANDEM_INLINE std::string json_quoted(const std::string& s) {
  std::string r = "\"";
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = utf8_length(s, i);
    const char c = s[i];
    if (n == 0) {
      r += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      r += '\\', r += c;
    } else if (n == 1 && static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      r += code;
    } else {
      r.append(s, i, n);
    }
    i += std::max<std::size_t>(n, 1);
  }
  return r + '"';
}
inline std::string microseconds(i64 nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  return text;
}
TANDEM_INLINE std::string event_json(const ProfileEvent& e) {
  std::string s = "{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(e.thread) + ",\"ts\":" + microseconds(e.start) +
                  ",\"dur\":" + microseconds(e.duration) + ",\"cat\":" + json_quoted(e.kind) +
                  ",\"name\":" + json_quoted(e.name) + ",\"args\":{";
  if (!e.op.empty())
    s += "\"op\":" + json_quoted(e.op) + ",\"shapes\":" + json_quoted(e.shapes) +
         ",\"bytes\":" + std::to_string(e.bytes);
  if (is_collective(e)) s += ",\"exposed_ns\":" + std::to_string(e.exposed);
  if (e.where.file)
    s += std::string(e.op.empty() ? "" : ",") +
         "\"where\":" + json_quoted(std::string(e.where.file) + ":" + std::to_string(e.where.line));
  return s + "}}";
}
inline Recording& recording_of(const Ref<Opaque>& r) { return static_cast<Recording&>(*r); }

}  // namespace detail

TANDEM_INLINE Profiler::Profiler(ProfilerOptions options) : recording_(new detail::Recording(options)) {
  const std::lock_guard lock(detail::profile_mutex);
  if (detail::open_recording)
    errors::raise<errors::FailedPreconditionError>("profiler", "another profiler is active; stop it first");
  detail::open_recording = &detail::recording_of(recording_);
  detail::open_recording->begin = detail::profile_now();
  detail::op_recorder.store(&detail::record_op, std::memory_order_release);
  detail::profiling.store(true);
}
TANDEM_INLINE Profiler::~Profiler() { stop(); }
TANDEM_INLINE void Profiler::stop() {
  const std::lock_guard lock(detail::profile_mutex);
  if (detail::open_recording != recording_.get()) return;
  detail::open_recording = nullptr;
  detail::profiling.store(false);
}
TANDEM_INLINE std::vector<ProfileEvent> Profiler::events() const {
  const std::lock_guard lock(detail::profile_mutex);
  const LeanVector<ProfileEvent>& all = detail::recording_of(recording_).events;
  return {all.begin(), all.end()};
}
TANDEM_INLINE std::size_t Profiler::dropped() const {
  const std::lock_guard lock(detail::profile_mutex);
  return detail::recording_of(recording_).dropped;
}
TANDEM_INLINE std::string Profiler::json() const {
  std::string s = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped_events\":" + std::to_string(dropped()) +
                  "},\"traceEvents\":[\n";
  std::map<int, bool> named;
  bool first = true;
  for (const ProfileEvent& e : events()) {
    if (!named[e.thread]) {
      named[e.thread] = true;
      const std::string id = std::to_string(e.thread);
      s += std::string(first ? "" : ",\n") + "{\"ph\":\"M\",\"pid\":1,\"tid\":" + id +
           ",\"name\":\"thread_name\",\"args\":{\"name\":\"" +
           (detail::is_collective(e) ? "collectives" : "thread " + id) + "\"}}";
      first = false;
    }
    s += ",\n" + detail::event_json(e);
  }
  return s + "\n]}\n";
}
TANDEM_INLINE void Profiler::write(const std::string& path) const { detail::write_text_file("profiler", path, json()); }
TANDEM_INLINE std::string Profiler::summary() const {
  struct Row {
    std::string op;
    i64 count = 0, time = 0, bytes = 0;
  };
  std::map<std::string, Row> by_op;
  for (const ProfileEvent& e : events()) {
    if (e.op.empty()) continue;
    Row& r = by_op[detail::is_collective(e) ? "collective " + e.op : e.op];
    ++r.count, r.time += e.duration, r.bytes += e.bytes;
  }
  LeanVector<Row> rows;
  for (auto& [op, row] : by_op) row.op = op, rows.push_back(row);
  std::string s = "op                            count     total us      mean us           bytes\n";
  for (const std::size_t i :
       detail::stable_order(rows.size(), [&](std::size_t a, std::size_t b) { return rows[a].time > rows[b].time; })) {
    const Row& r = rows[i];
    const double time = static_cast<double>(r.time) * 1e-3;
    const std::string total = detail::fixed_text(time, 1),
                      mean = detail::fixed_text(time / static_cast<double>(r.count), 3);
    char line[160];
    std::snprintf(line, sizeof line, "%-26.26s %8lld %12s %12s %15lld\n", r.op.c_str(), static_cast<long long>(r.count),
                  total.c_str(), mean.c_str(), static_cast<long long>(r.bytes));
    s += line;
  }
  return s;
}

TANDEM_INLINE ProfileScope::ProfileScope(const char* kind, std::string name)
    : kind_(kind), start_(detail::is_profiling() ? detail::profile_now() : -1) {
  if (start_ >= 0) name_ = std::move(name);
}
TANDEM_INLINE ProfileScope::~ProfileScope() {
  if (start_ < 0) return;
  detail::or_drop([&] {
    ProfileEvent e;
    e.kind = kind_, e.name = std::move(name_);
    detail::keep(std::move(e), start_, detail::profile_now());
  });
}

}  // namespace TANDEM_NS

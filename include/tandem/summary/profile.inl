// Definitions of summary/profile.hpp: the events of a profiler as XSpace, which has a plane for the machine, a line for
// each thread, and names once, by number. Field numbers: tsl/profiler/protobuf/xplane.proto.
#pragma once
#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tandem/summary/profile.hpp"
#include "tandem/summary/wire.hpp"
#include "tandem/util/host_name.hpp"

namespace TANDEM_NS::summary {

namespace impl {

/// The number of the training step that a scope is; -1 for other events.
TANDEM_INLINE i64 step_number(const ProfileEvent& e) {
  constexpr std::string_view prefix = "step ";
  i64 number = -1;
  if (std::string_view(e.kind) != "scope" || !e.name.starts_with(prefix)) return -1;
  const char* const end = e.name.data() + e.name.size();
  const auto r = std::from_chars(e.name.data() + prefix.size(), end, number);
  return r.ec == std::errc() && r.ptr == end ? number : -1;
}

/// A plane while it is written. The profiler of XLA knows ops by the form "name:op" of their names, and the steps of a
/// training by the values "_r", of what contains the rest, and "step_num".
class Plane {
 public:
  void add_line(int thread, std::vector<ProfileEvent> events) {
    // As they began; what contains others comes before them.
    std::stable_sort(events.begin(), events.end(), [](const ProfileEvent& a, const ProfileEvent& b) {
      return std::pair(a.start, -a.duration) < std::pair(b.start, -b.duration);
    });
    const bool is_lane = !events.empty() && is_collective(events.front());
    detail::append_message(lines_, 3, [&] {
      detail::append_integer(lines_, 1, thread);
      detail::append_field(lines_, 2, is_lane ? "collectives" : "thread " + std::to_string(thread));
      for (const ProfileEvent& e : events) detail::append_message(lines_, 4, [&] { add(e); });
    });
  }
  std::string bytes() const {
    std::string to;
    detail::append_integer(to, 1, 1);
    detail::append_field(to, 2, "/host:CPU");
    to += lines_;
    append_names(to, 4, events_);
    append_names(to, 5, values_);
    return to;
  }

 private:
  using Names = std::map<std::string, i64>;

  static i64 number_of(Names& names, const std::string& name) {
    return names.try_emplace(name, static_cast<i64>(names.size()) + 1).first->second;
  }
  static void append_names(std::string& to, std::uint32_t field, const Names& names) {
    for (const auto& entry : names)
      detail::append_message(to, field, [&] {
        detail::append_integer(to, 1, entry.second);
        detail::append_message(to, 2, [&] {
          detail::append_integer(to, 1, entry.second);
          detail::append_field(to, 2, entry.first);
        });
      });
  }
  static bool is_collective(const ProfileEvent& e) { return std::string_view(e.kind) == "collective"; }
  static std::string name_of(const ProfileEvent& e) {
    if (!e.op.empty()) return e.name + ":" + e.op;
    return std::string_view(e.kind) == "scope" ? e.name : e.kind + (" " + e.name);
  }
  void add(const ProfileEvent& e) {
    constexpr i64 picoseconds = 1000;  // of a nanosecond
    const i64 step = step_number(e);
    detail::append_integer(lines_, 1, number_of(events_, step < 0 ? name_of(e) : "step"));
    detail::append_integer(lines_, 2, e.start * picoseconds);
    detail::append_integer(lines_, 3, e.duration * picoseconds);
    if (step >= 0) add_value("_r", 1), add_value("step_num", step);
    if (!e.op.empty()) add_value("shapes", e.shapes), add_value("bytes", e.bytes);
    if (is_collective(e)) add_value("exposed_ns", e.exposed);
    if (e.where.file) add_value("where", std::string(e.where.file) + ":" + std::to_string(e.where.line));
  }
  void add_value(const char* name, i64 x) {
    detail::append_message(lines_, 4, [&] {
      detail::append_integer(lines_, 1, number_of(values_, name));
      detail::append_integer(lines_, 4, x);
    });
  }
  void add_value(const char* name, const std::string& text) {
    detail::append_message(lines_, 4, [&] {
      detail::append_integer(lines_, 1, number_of(values_, name));
      detail::append_field(lines_, 5, text);
    });
  }
  std::string lines_;
  Names events_, values_;
};

TANDEM_INLINE std::string xspace(const std::vector<detail::ProfilePart>& parts, const std::string& host) {
  std::map<int, std::vector<ProfileEvent>> threads;
  std::size_t dropped = 0;
  for (const detail::ProfilePart& part : parts) {
    dropped += part.profiler->dropped();
    for (ProfileEvent& e : part.profiler->events()) {
      e.start += part.begin - parts[0].begin;
      threads[e.thread].push_back(std::move(e));
    }
  }
  Plane plane;
  for (auto& entry : threads) plane.add_line(entry.first, std::move(entry.second));
  std::string to;
  detail::append_field(to, 1, plane.bytes());
  if (dropped)
    detail::append_field(to, 3, std::to_string(dropped) + " events were dropped (ProfilerOptions::max_events)");
  detail::append_field(to, 4, host);
  return to;
}

TANDEM_INLINE std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y_%m_%d_%H_%M_%S", &parts)};
}

}  // namespace impl

TANDEM_INLINE std::string detail::write_profile(const std::vector<ProfilePart>& parts, const std::string& logdir,
                                                const ProfileOptions& o) {
  const std::string run = o.run.empty() ? impl::local_time() : o.run;
  const std::string host = o.host.empty() ? tandem::detail::host_name() : o.host;
  for (const std::string& name : {run, host})
    if (name == "." || name == ".." || name.find_first_of(std::string_view("/\0", 2)) != name.npos)
      errors::raise<errors::InvalidArgumentError>("write_profile", "\"" + name + "\" is not the name of a file");
  std::string path = logdir + "/plugins/profile/" + run + "/" + host + ".xplane.pb";
  io::write_file(path, impl::xspace(parts, host));
  return path;
}
TANDEM_INLINE std::string write_profile(const Profiler& profiler, const std::string& logdir, const ProfileOptions& o) {
  return detail::write_profile({{&profiler}}, logdir, o);
}

}  // namespace TANDEM_NS::summary

// Definitions of data/dataset/report.hpp, and Budget.
#pragma once
#include <algorithm>
#include <unordered_set>

#include "tandem/data/dataset/report.hpp"
#include "tandem/data/dataset/stage.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_INLINE void StageCounts::keep(i64 bytes) {
  const i64 now = kept.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  i64 most = most_kept.load(std::memory_order_relaxed);
  while (now > most && !most_kept.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

TANDEM_INLINE StageInfo::StageInfo(const char* name, std::vector<Ref> inputs)
    : name_(name), inputs_(std::move(inputs)) {
  for (const Ref& input : inputs_) {
    depth_ = std::max(depth_, input->depth() + 1);
    draws_ = std::max(draws_, input->draws());
    if (input->workers().threads > workers_.threads) workers_ = input->workers();
  }
}
TANDEM_INLINE StageInfo::~StageInfo() = default;
TANDEM_INLINE i64 StageInfo::own_seed(i64 seed) {
  const auto before = static_cast<u64>(draws_++);
  return before == 0 ? seed : static_cast<i64>(mix(static_cast<u64>(seed), before));
}

TANDEM_INLINE void Timing::start() { begin_ = tandem::detail::nanoseconds_now(); }
TANDEM_INLINE void Timing::stop() {
  counts_.busy.fetch_add(tandem::detail::nanoseconds_now() - begin_, std::memory_order_relaxed);
  counts_.timed.fetch_add(1, std::memory_order_relaxed);
}

TANDEM_INLINE bool Budget::try_add(i64 bytes) {
  const i64 now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now <= limit_) return true;
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}
TANDEM_INLINE void Budget::add(const char* stage, i64 bytes) {
  if (try_add(bytes)) return;
  errors::raise<MemoryLimitError>(stage, "the stages of this data set would keep " + std::to_string(used_ + bytes) +
                                             " bytes, more than its memory_limit of " + std::to_string(limit_) +
                                             ": use smaller buffers, or a larger limit");
}

namespace impl {

// A time with three digits and its unit.
inline std::string time_text(double nanoseconds) {
  const char* const units[] = {"ns", "us", "ms", "s"};
  int unit = 0;
  for (; unit < 3 && nanoseconds >= 1000; ++unit) nanoseconds /= 1000;
  return tandem::detail::rounded_text(nanoseconds, 3) + " " + units[unit];
}
inline std::string bytes_text(i64 bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " bytes";
  return tandem::detail::fixed_text(static_cast<double>(bytes) / 1e6, 1) + " MB";
}

inline std::string line(const StageInfo& stage) {
  const StageCounts& c = stage.counts();
  const auto of = [](const std::atomic<i64>& x) { return static_cast<double>(x.load(std::memory_order_relaxed)); };
  std::string r = std::string(stage.name()) + ":";
  const double each = c.timed > 0 ? of(c.busy) / of(c.timed) : 0;
  if (c.elements > 0) r += " " + std::to_string(c.elements.load()) + " elements";
  if (c.calls > 0) r += (c.elements > 0 ? ", " : " ") + std::to_string(c.calls.load()) + " calls of " + time_text(each);
  if (c.elapsed > 0) {
    const double busy = std::min(each * of(c.calls) / of(c.elapsed), of(c.threads));
    r += ", " + tandem::detail::fixed_text(busy, 1) + " of " + std::to_string(c.threads.load()) + " threads busy";
    r += ", consumer waits " + tandem::detail::fixed_text(100 * std::min(1.0, of(c.waited) / of(c.elapsed)), 0) + " %";
  }
  if (c.most_kept > 0) r += ", kept at most " + bytes_text(c.most_kept);
  if (c.ignored > 0) r += ", " + std::to_string(c.ignored.load()) + " errors ignored";
  return r + "\n";
}

inline void report(const StageInfo& stage, std::unordered_set<const StageInfo*>& seen, std::string& to) {
  if (!seen.insert(&stage).second) return;
  for (const StageInfo::Ref& input : stage.inputs()) report(*input, seen, to);
  to += line(stage);
}

}  // namespace impl

TANDEM_INLINE std::string report(const StageInfo& last) {
  std::unordered_set<const StageInfo*> seen;
  std::string r;
  impl::report(last, seen, r);
  return r;
}

}  // namespace TANDEM_NS::data::detail

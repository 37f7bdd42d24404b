// Definitions of distribute/sim_schedule.hpp: turns, clocks, faults.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "tandem/base/error.hpp"
#include "tandem/distribute/sim_exchange.hpp"
#include "tandem/distribute/sim_schedule.hpp"

namespace TANDEM_NS::distribute::impl {

// Seconds that a rank has for its next operation after it has reported an error.
constexpr double sim_patience = 0.5;

TANDEM_INLINE SimSchedule::SimSchedule(int ranks, const SimOptions& options, std::vector<SimFault>& faults)
    : options_(options),
      faults_(faults),
      ranks_(static_cast<std::size_t>(ranks) + options.newcomers.size()),
      draws_(options.seed) {
  for (std::size_t i = 0; i < options.newcomers.size(); ++i) {
    Rank& r = ranks_[static_cast<std::size_t>(ranks) + i];
    r.state = Rank::outside, r.since = options.newcomers[i];
  }
  running_ = next();
}

// Whose turn it is, among those who can run; if nobody can, the rank whose wait ends first.
TANDEM_INLINE int SimSchedule::next() {
  std::vector<int> ready;
  const auto collect = [&] {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (ranks_[i].state == Rank::ready) ready.push_back(static_cast<int>(i));
  };
  collect();
  if (ready.empty()) time_out(), collect();
  if (ready.empty()) {  // nobody is left who could take newcomers in
    for (Rank& r : ranks_)
      if (r.state == Rank::outside) r.state = Rank::ready;
    collect();
  }
  return ready.empty() ? -1 : ready[draws_() % ready.size()];
}
TANDEM_INLINE void SimSchedule::time_out() {
  Rank* first = nullptr;
  for (Rank& r : ranks_)
    if (r.state == Rank::waiting && (!first || r.deadline < first->deadline)) first = &r;
  if (!first) return;
  if (std::isfinite(first->deadline)) {
    first->state = Rank::ready;
    return;
  }
  deadlock_ = waiting_text();
  for (Rank& r : ranks_)
    if (r.state == Rank::waiting) r.state = Rank::ready;
}
TANDEM_INLINE std::string SimSchedule::waiting_text() const {
  std::string r;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    r += (i ? "; rank " : "rank ") + std::to_string(i);
    if (ranks_[i].state == Rank::ended) r += " has ended";
    else if (ranks_[i].state == Rank::outside) r += " has not joined";
    else r += " waits in its operation " + std::to_string(ranks_[i].operations - 1);
  }
  return r;
}

TANDEM_INLINE void SimSchedule::pass_turn(std::unique_lock<std::mutex>& lock, int rank) {
  running_ = next();
  if (running_ == rank) return;
  if (running_ >= 0) at(running_).turn.notify_one();
  if (at(rank).state != Rank::ended) at(rank).turn.wait(lock, [&] { return running_ == rank; });
}
TANDEM_INLINE void SimSchedule::begin(int rank) {
  std::unique_lock lock(mutex_);
  at(rank).turn.wait(lock, [&] { return running_ == rank; });
}
TANDEM_INLINE void SimSchedule::end(int rank) {
  std::unique_lock lock(mutex_);
  at(rank).state = Rank::ended;
  std::vector<std::shared_ptr<SimGroup>> waited;
  for (const auto& [key, group] : groups_)
    if (!group->here.empty()) waited.push_back(group);
  for (const auto& group : waited) finish_rebuild(*group);
  pass_turn(lock, rank);
}
TANDEM_INLINE std::shared_ptr<SimGroup> SimSchedule::rebuild(const std::shared_ptr<SimGroup>& group, int member) {
  std::unique_lock lock(mutex_);
  const int rank = group->members[static_cast<std::size_t>(member)];
  Rank& r = at(rank);
  std::shared_ptr<SimGroup> last = group;  // another rank may have been lost in a group that was already rebuilt
  while (last->next) last = last->next;
  if (std::find(last->members.begin(), last->members.end(), rank) == last->members.end())
    errors::raise<errors::UnavailableError>("Communicator::rebuild", "the other ranks have gone on without this one");
  last->here.push_back(rank);
  finish_rebuild(*last);
  if (!last->next) {
    r.deadline = r.clock + options_.timeout, r.state = Rank::waiting;
    pass_turn(lock, rank);
  }
  if (last->next) return last->next;
  std::erase(last->here, rank);
  r.clock = std::max(r.clock, r.deadline);
  errors::raise<errors::UnavailableError>("Communicator::rebuild",
                                          "the ranks that live have not all come within the timeout");
}
TANDEM_INLINE void SimSchedule::finish_rebuild(SimGroup& group) {
  for (const int rank : group.members)
    if (at(rank).state != Rank::ended && std::find(group.here.begin(), group.here.end(), rank) == group.here.end())
      return;
  std::vector<int> left = std::exchange(group.here, {});
  std::sort(left.begin(), left.end());
  for (const int rank : left) at(rank).state = Rank::ready;
  group.next = std::make_shared<SimGroup>();
  group.next->id = static_cast<int>(groups_.size()), group.next->members = std::move(left);
  groups_[{group.id, -1, 0}] = group.next;
  take_in_newcomers(group.next);
}
TANDEM_INLINE void SimSchedule::take_in_newcomers(const std::shared_ptr<SimGroup>& group) {
  double now = 0;
  for (const int rank : group->members) now = std::max(now, at(rank).clock);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& r = ranks_[i];
    if (r.state != Rank::outside || r.since > now) continue;
    r.state = Rank::ready, r.clock = now, r.joined = group;
    group->members.push_back(static_cast<int>(i));
  }
}
TANDEM_INLINE std::shared_ptr<SimGroup> SimSchedule::joined(int rank) {
  const std::lock_guard lock(mutex_);
  return at(rank).joined;
}
TANDEM_INLINE bool SimSchedule::sees_newcomers(int rank) {
  const std::lock_guard lock(mutex_);
  const double now = at(rank).clock;
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [now](const Rank& r) { return r.state == Rank::outside && r.since <= now; });
}

TANDEM_INLINE void SimSchedule::count(int rank) {
  const std::lock_guard lock(mutex_);
  Rank& r = at(rank);
  const i64 number = r.operations++;
  r.clock += r.slow;
  for (std::size_t i = 0; i < faults_.size();) {
    const SimFault f = faults_[i];
    if (f.rank != rank || f.at != number) {
      ++i;
      continue;
    }
    faults_.erase(faults_.begin() + static_cast<std::ptrdiff_t>(i));
    // A rank that is stopped forever is to the others what a killed one is.
    r.is_killed = f.kind == SimFault::kill || (f.kind == SimFault::stop && f.seconds == 0);
    if (r.is_killed) throw SimKilled();
    (f.kind == SimFault::slow ? r.slow : f.kind == SimFault::delay ? r.late : r.clock) += f.seconds;
  }
}

// Seconds that the messages of an operation take: the formulas of recursive halving and doubling for reductions, of
// trees for the others.
TANDEM_INLINE double SimSchedule::cost(const SimOperation& o) {
  const auto ranks = o.calls.size();
  const auto p = static_cast<double>(ranks), rounds = static_cast<double>(std::bit_width(ranks - 1)),
             share = (p - 1) / p;
  double bytes = 0;  // of the largest buffer
  for (const Collective* c : o.calls)
    bytes = std::max(bytes, static_cast<double>(c->count) * double(size_of(c->dtype)));
  const Collective::Kind kind = o.calls[0]->kind;
  double messages = rounds;
  if (kind == Collective::all_reduce) messages = 2 * rounds, bytes *= 2 * share;
  else if (kind == Collective::all_gather) bytes *= p - 1;
  else if (kind == Collective::reduce_scatter) bytes *= share;
  else if (kind == Collective::all_to_all) messages = p - 1;
  const double jitter = options_.jitter * static_cast<double>(draws_() >> 11) * 0x1p-53;
  return (messages * options_.latency + bytes / options_.bytes_per_second) * (1 + jitter);
}
TANDEM_INLINE void SimSchedule::perform(SimOperation& o) {
  o.mismatch = sim_mismatch(o);
  if (o.mismatch.empty()) sim_exchange(o);
  o.end = *std::max_element(o.since.begin(), o.since.end()) + cost(o);
  o.has_ended = true;
  for (Rank& r : ranks_)
    if (r.state == Rank::waiting && r.operation == &o) r.state = Rank::ready;
}

TANDEM_INLINE std::shared_ptr<SimOperation> SimSchedule::arrive(SimGroup& group, int member, i64 number,
                                                                const Collective& call) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<SimOperation>& entry = group.calls[number];
  if (!entry) {
    entry = std::make_shared<SimOperation>();
    entry->calls.resize(group.members.size());
    entry->since.resize(group.members.size());
    entry->group = &group, entry->number = number;
  }
  if (const auto e = group.errors.find(member); e != group.errors.end()) e->second.is_withdrawn = true;
  const std::shared_ptr<SimOperation> o = entry;
  const auto m = static_cast<std::size_t>(member);
  const int rank = group.members[m];
  o->calls[m] = &call;
  o->since[m] = at(rank).clock + std::exchange(at(rank).late, 0.0);
  if (++o->arrived == static_cast<int>(group.members.size())) {
    group.calls.erase(number);
    if (!o->is_hopeless) perform(*o);
  }
  pass_turn(lock, rank);
  return o;
}
// The error of another rank for which the operation waits in vain, if the rank does not go on.
TANDEM_INLINE const SimError* SimSchedule::error_for(const SimOperation& o, int member) {
  const auto own = o.group->errors.find(member);
  for (const auto& [other, e] : o.group->errors)
    if (other != member && !e.is_withdrawn && e.operations <= o.number &&
        (own == o.group->errors.end() || own->second.operations != e.operations))
      return &e;
  return nullptr;
}
TANDEM_INLINE void SimSchedule::report(SimGroup& group, int member, i64 operations, const std::string& error) {
  const std::lock_guard lock(mutex_);
  const int rank = group.members[static_cast<std::size_t>(member)];
  if (at(rank).is_killed) return;  // what unwinds its stack is not an error
  SimError& e = group.errors[member];
  if (e.operations == operations && !e.is_withdrawn) return;
  e = {operations, at(rank).clock, "rank " + std::to_string(rank) + " has raised: " + error, false};
  for (Rank& r : ranks_)
    if (r.state == Rank::waiting && r.operation && r.operation->group == &group)
      r.deadline = std::min(r.deadline, std::max(r.clock, e.at) + sim_patience);
}
TANDEM_INLINE bool SimSchedule::wait(int rank, int member, const SimOperation& o, double seconds) {
  std::unique_lock lock(mutex_);
  Rank& r = at(rank);
  const double end = r.clock + seconds;
  for (r.deadline = end; !o.has_ended;) {
    if (const SimError* e = error_for(o, member))
      r.deadline = std::min(r.deadline, std::max(r.clock, e->at) + sim_patience);
    r.state = Rank::waiting, r.operation = &o;
    pass_turn(lock, rank);
    r.operation = nullptr;
    if (o.has_ended) break;
    if (!deadlock_.empty()) errors::raise<errors::AbortedError>("SimCluster", "deadlock: " + deadlock_);
    if (r.deadline >= end) break;
    if (const SimError* e = error_for(o, member)) {
      r.clock = std::max(r.clock, r.deadline);
      errors::raise<errors::UnavailableError>("SimCluster", e->text);
    }
    r.deadline = end;  // the rank has gone on
  }
  const bool in_time = o.has_ended && o.end <= end;
  r.clock = std::max(r.clock, in_time ? o.end : end);
  if (in_time && !o.mismatch.empty()) errors::raise<errors::FailedPreconditionError>("SimCluster", o.mismatch);
  return in_time;
}
TANDEM_INLINE void SimSchedule::leave(SimOperation& o, int member) {
  const std::lock_guard lock(mutex_);
  if (o.has_ended) return;
  o.calls[static_cast<std::size_t>(member)] = nullptr;
  o.is_hopeless = true;
}
TANDEM_INLINE std::shared_ptr<SimGroup> SimSchedule::group(int parent, i64 split, int color,
                                                           const std::vector<int>& members) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<SimGroup>& entry = groups_[{parent, split, color}];
  if (!entry) entry = std::make_shared<SimGroup>(SimGroup{static_cast<int>(groups_.size()), members, {}, {}, {}, {}});
  return entry;
}

}  // namespace TANDEM_NS::distribute::impl

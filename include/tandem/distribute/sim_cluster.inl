// Definitions of distribute/sim_cluster.hpp: the threads of ranks, their transport.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>

#include "tandem/base/error.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/sim_schedule.hpp"
#include "tandem/ops/random/element_keys.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::distribute {

namespace impl {

class SimTransport final : public Transport {
 public:
  SimTransport(std::shared_ptr<SimSchedule> schedule, std::shared_ptr<SimGroup> group, int member)
      : schedule_(std::move(schedule)), group_(std::move(group)), member_(member) {}

  const char* kind() const override { return "sim"; }
  int rank() const override { return member_; }
  int size() const override { return static_cast<int>(group_->members.size()); }
  std::string node() const override {
    return "node " + std::to_string(rank_of_cluster() / schedule_->options().ranks_per_node);
  }
  void abort() noexcept override { is_dead_ = true; }
  void report_error(const std::string& error) override { schedule_->report(*group_, member_, operations_, error); }
  std::unique_ptr<Pending> start(const Collective& call) override {
    if (is_dead_) errors::raise<errors::UnavailableError>("SimCluster", "the group is dead");
    schedule_->count(rank_of_cluster());
    auto waiting = std::make_unique<Waiting>(*this, call);
    waiting->operation = schedule_->arrive(*group_, member_, operations_++, waiting->call);
    return waiting;
  }
  std::unique_ptr<Transport> split(int color, int key) override;
  i64 now() const override { return std::llround(schedule_->time(rank_of_cluster()) * 1e9); }
  bool sees_newcomers() const override { return schedule_->sees_newcomers(rank_of_cluster()); }
  std::unique_ptr<Transport> rebuild() override {
    return of_rank(schedule_, schedule_->rebuild(group_, member_), rank_of_cluster());
  }
  static std::unique_ptr<Transport> of_rank(const std::shared_ptr<SimSchedule>& schedule,
                                            const std::shared_ptr<SimGroup>& group, int rank) {
    const auto at = std::find(group->members.begin(), group->members.end(), rank);
    return std::make_unique<SimTransport>(schedule, group, static_cast<int>(at - group->members.begin()));
  }

 private:
  struct Waiting final : Pending {
    Waiting(SimTransport& t, const Collective& c) : transport(t), call(c) {}
    ~Waiting() override {
      if (operation) schedule->leave(*operation, member);
    }
    bool wait(double seconds) override {
      if (transport.is_dead_) errors::raise<errors::UnavailableError>("SimCluster", "the group is dead");
      return schedule->wait(rank, member, *operation, seconds);
    }
    SimTransport& transport;
    const std::shared_ptr<SimSchedule> schedule = transport.schedule_;
    const int rank = transport.rank_of_cluster(), member = transport.member_;
    const Collective call;
    std::shared_ptr<SimOperation> operation;
  };
  int rank_of_cluster() const { return group_->members[static_cast<std::size_t>(member_)]; }

  const std::shared_ptr<SimSchedule> schedule_;
  const std::shared_ptr<SimGroup> group_;
  const int member_;
  i64 operations_ = 0, splits_ = 0;
  bool is_dead_ = false;
};

TANDEM_INLINE std::unique_ptr<Transport> SimTransport::split(int color, int key) {
  struct Choice {
    i64 color, key;
  };
  const Choice own{color, key};
  std::vector<Choice> all(group_->members.size());
  const std::vector<i64> each(all.size(), 2);
  const auto p = start({.kind = Collective::all_gather,
                        .dtype = DType::int64,
                        .input = &own,
                        .output = all.data(),
                        .count = 2,
                        .receive = each});
  if (!p->wait(schedule_->options().timeout))
    errors::raise<errors::UnavailableError>("Communicator::split", "not all ranks have called it");
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].color == color) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return all[a].key < all[b].key; });
  std::vector<int> members;
  int member = 0;
  for (const std::size_t i : order) {
    if (static_cast<int>(i) == member_) member = static_cast<int>(members.size());
    members.push_back(group_->members[i]);
  }
  return std::make_unique<SimTransport>(schedule_, schedule_->group(group_->id, splits_++, color, members), member);
}

}  // namespace impl

struct SimCluster::Parts {
  int ranks;
  SimOptions options;
  double time = 0;
  int restarts = 0;
  std::vector<std::string> errors;

  std::exception_ptr start(Body body, void* f, bool& was_killed);
};

TANDEM_INLINE SimCluster::SimCluster(int ranks, SimOptions options)
    : parts_(new Parts{ranks, std::move(options), 0, 0, {}}) {
  const SimOptions& o = parts_->options;
  const auto refuse = [](const std::string& what) { errors::raise<errors::InvalidArgumentError>("SimCluster", what); };
  if (ranks < 1) refuse("a cluster must have at least one rank, not " + std::to_string(ranks));
  if (!(o.latency >= 0) || !(o.bytes_per_second > 0) || !(o.jitter >= 0) || !(o.timeout > 0) || o.ranks_per_node < 1)
    refuse("latency and jitter must not be negative, the rate, the timeout and ranks_per_node must be positive");
  for (const double at : o.newcomers)
    if (!(at >= 0))
      refuse("a newcomer must not start before the clock, at " + tandem::detail::rounded_text(at, 6) + " s");
  const int in_all = ranks + static_cast<int>(o.newcomers.size());
  for (const SimFault& f : o.faults)
    if (f.rank < 0 || f.rank >= in_all || f.at < 0 || !(f.seconds >= 0))
      refuse("a fault of rank " + std::to_string(f.rank) + " at operation " + std::to_string(f.at) + " by " +
             tandem::detail::rounded_text(f.seconds, 6) + " s; there are " + std::to_string(in_all) + " ranks");
}
TANDEM_INLINE SimCluster::SimCluster(SimCluster&&) noexcept = default;
TANDEM_INLINE SimCluster& SimCluster::operator=(SimCluster&&) noexcept = default;
TANDEM_INLINE SimCluster::~SimCluster() = default;
TANDEM_INLINE double SimCluster::time() const { return parts_->time; }
TANDEM_INLINE int SimCluster::restarts() const { return parts_->restarts; }
TANDEM_INLINE const std::vector<std::string>& SimCluster::errors() const { return parts_->errors; }

// Runs all ranks to their ends, and returns the error of the lowest one.
TANDEM_INLINE std::exception_ptr SimCluster::Parts::start(Body body, void* f, bool& was_killed) {
  const std::size_t n = static_cast<std::size_t>(ranks) + options.newcomers.size();
  const auto schedule = std::make_shared<impl::SimSchedule>(ranks, options, options.faults);
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  const auto world = schedule->group(-1, 0, 0, all);
  errors.assign(n, {});
  std::vector<std::exception_ptr> raised(n);
  std::atomic<int> go{0};  // 1: all threads are there; -1: one could not be started
  const auto run = [&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    go.wait(0);
    if (go < 0) return;
    schedule->begin(rank);
    try {
      const impl::GroupsScope own;
      random::detail::ElementKeys draws(0, 0);  // a process has a generator of its own
      if (rank < ranks) {
        body(f, Communicator("world", std::make_unique<impl::SimTransport>(schedule, world, rank), options.timeout));
      } else if (const auto joined = schedule->joined(rank)) {
        body(f, impl::Groups::join(impl::SimTransport::of_rank(schedule, joined, rank), options.timeout));
      } else {
        errors[at] = "has not joined";
      }
    } catch (const impl::SimKilled&) {
      errors[at] = "killed";
    } catch (const std::exception& e) {
      errors[at] = e.what(), raised[at] = std::current_exception();
    } catch (...) {
      errors[at] = "an exception that is not a std::exception", raised[at] = std::current_exception();
    }
    schedule->end(rank);
  };
  std::vector<std::thread> threads;
  threads.reserve(n);
  const auto begin = [&](int command) {
    go = command;
    go.notify_all();
    for (std::thread& t : threads) t.join();
  };
  try {
    for (std::size_t rank = 0; rank < n; ++rank) threads.emplace_back(run, static_cast<int>(rank));
  } catch (const std::bad_alloc&) {  // of the state of a thread
    begin(-1);
    throw;
  } catch (const std::system_error& e) {
    begin(-1);
    errors::raise<errors::ResourceExhaustedError>("SimCluster", "cannot start the thread of rank " +
                                                                    std::to_string(threads.size()) + " of " +
                                                                    std::to_string(n) + ": " + e.what());
  }
  begin(1);
  was_killed = std::find(errors.begin(), errors.end(), "killed") != errors.end();
  time = 0;
  for (std::size_t rank = 0; rank < n; ++rank) time = std::max(time, schedule->time(static_cast<int>(rank)));
  for (const std::exception_ptr& e : raised)
    if (e) return e;
  return {};
}
TANDEM_INLINE void SimCluster::run_ranks(Body body, void* f) {
  parts_->restarts = 0;
  for (;;) {
    bool was_killed = false;
    const std::exception_ptr error = parts_->start(body, f, was_killed);
    if (was_killed && parts_->restarts < parts_->options.max_restarts) {
      ++parts_->restarts;
      continue;
    }
    if (error) std::rethrow_exception(error);
    return;
  }
}

}  // namespace TANDEM_NS::distribute

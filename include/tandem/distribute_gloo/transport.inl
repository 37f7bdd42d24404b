// Definitions of distribute_gloo/transport.hpp: a full mesh of Gloo's connections as a Transport.
#pragma once
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/distribute/interfaces.hpp"
#include "tandem/distribute/leave_at_exit.hpp"
#include "tandem/distribute/liveness.hpp"
#include "tandem/distribute/raised_errors.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute/waiting_calls.hpp"
#include "tandem/distribute_gloo/no_sigpipe.hpp"
#include "tandem/distribute_gloo/process.hpp"
#include "tandem/distribute_gloo/transport.hpp"
#include "tandem/distribute_gloo/worker.hpp"

namespace TANDEM_NS::distribute::impl {

namespace gloo_backend {

// An error of Gloo without the line of its source.
inline std::string without_place(const std::string& error) {
  const std::size_t end = error.find("] ");
  return error.starts_with('[') && end != std::string::npos ? error.substr(end + 2) : error;
}

class GlooPending final : public Pending {
 public:
  GlooPending(std::shared_ptr<Process> process, std::shared_ptr<WaitingCalls> calls,
              std::shared_ptr<RaisedErrors> errors, std::shared_ptr<Worker> worker, std::shared_ptr<Job> job)
      : process_(std::move(process)),
        calls_(std::move(calls)),
        errors_(std::move(errors)),
        worker_(std::move(worker)),
        job_(std::move(job)) {}
  bool wait(double seconds) override {
    const i64 end = distribute::detail::moment_after(seconds);
    i64 lost_since = 0, compared = -1;
    double period = calls_->period();
    i64 comparison = distribute::detail::moment_after(period);
    i64 question = distribute::detail::moment_after(RaisedErrors::period);
    const auto is_lost = [&] {
      if (!process_->sees_a_loss()) return lost_since = 0, false;
      if (lost_since == 0) lost_since = tandem::detail::nanoseconds_now();
      return distribute::detail::seconds_since(lost_since) > 0.5;  // what it sent before may still be on its way
    };
    Job::State state = Job::queued;
    for (bool has_given_up = false; !has_given_up;) {
      state = worker_->wait(*job_, std::min({end, comparison, question}), is_lost);
      if (state == Job::done) return true;
      if (state == Job::failed && worker_->is_aborted()) errors::raise<errors::UnavailableError>("gloo", job_->error);
      has_given_up = state == Job::failed || is_lost();
      const i64 now = tandem::detail::nanoseconds_now();
      if (!has_given_up && now >= end) return false;
      if (now >= question) {
        if (const std::string raised = errors_->before(job_->number); !raised.empty())
          errors::raise<errors::UnavailableError>("gloo", raised);
        question = distribute::detail::moment_after(RaisedErrors::period);
      }
      if (now < comparison && !has_given_up) continue;
      if (const std::shared_ptr<Job> job = worker_->current()) {
        calls_->compare(job->call, job->number);
        period = job->number == compared ? 2 * period : calls_->period();
        compared = job->number;
      }
      comparison = distribute::detail::moment_after(period);
    }
    if (const std::string raised = errors_->any(); !raised.empty())
      errors::raise<errors::UnavailableError>("gloo", raised);
    if (state == Job::failed) process_->raise("a connection has ended: " + without_place(job_->error));
    process_->raise("the process of another rank has ended");
  }
  i64 ended() const override { return job_->ended; }

 private:
  const std::shared_ptr<Process> process_;
  const std::shared_ptr<WaitingCalls> calls_;
  const std::shared_ptr<RaisedErrors> errors_;
  const std::shared_ptr<Worker> worker_;
  const std::shared_ptr<Job> job_;
};

class GlooTransport final : public Transport {
 public:
  /// Connects `members`, ranks of the world of which this process is the one at `rank`, within `patience` seconds;
  /// `name` is the group's alone.
  GlooTransport(std::shared_ptr<Process> process, std::string name, std::vector<int> members, int rank, double patience)
      : process_(std::move(process)), name_(std::move(name)), members_(std::move(members)) {
    auto context = std::make_shared<::gloo::rendezvous::Context>(rank, static_cast<int>(members_.size()));
    // Gloo waits for five times the timeout when it connects.
    const double fifth = std::ceil(patience * 1000 / 5);
    context->setTimeout(std::chrono::milliseconds(static_cast<std::int64_t>(fifth)));
    GlooStore store(*process_, name_ + "/mesh/", patience);
    try {
      const NoSigpipe no_sigpipe;
      context->connectFullMesh(store, process_->device);
    } catch (const errors::OpError&) {  // of the store
      throw;
    } catch (const std::exception& e) {  // of Gloo's two kinds of errors, which have no other base
      errors::raise<errors::UnavailableError>("gloo", "cannot connect the group: " + without_place(e.what()));
    }
    context_ = std::move(context);
    calls_ = std::make_shared<WaitingCalls>("gloo", process_->place, process_->timeout, name_, rank);
    errors_ = std::make_shared<RaisedErrors>(process_->place, name_ + "/errors/",
                                             members_[static_cast<std::size_t>(rank)], node_name());
    worker_ = std::make_shared<Worker>(context_, process_->timeout);
    worker_->begin();
  }
  ~GlooTransport() override { worker_->end(); }
  const char* kind() const override { return "gloo"; }
  int rank() const override { return context_->rank; }
  int size() const override { return context_->size; }
  std::string node() const override { return node_name(); }
  void report_step(i64 step) override {
    if (process_->liveness) process_->liveness->report_step(step);
  }
  std::string last_seen() const override {
    return process_->liveness ? process_->liveness->missing(members_) : std::string();
  }
  void report_error(const std::string& error) override { errors_->report(operations_, error); }
  void withdraw_error() override { errors_->begin_operation(); }
  void abort() noexcept override {
    if (!worker_->is_aborted() && process_->liveness) process_->liveness->give_up();
    worker_->abort();
  }

  bool sees_newcomers() const override { return process_->liveness && process_->liveness->sees_newcomers(); }
  std::unique_ptr<Transport> rebuild() override;
  /// Connects the members of the world that has met, of which `own` is this process's number. If one has ended
  /// meanwhile, the others meet again.
  static std::unique_ptr<Transport> go_on(const std::shared_ptr<Process>& process, std::vector<int> members, int own);
  std::unique_ptr<Pending> start(const Collective& call) override {
    if (process_->liveness) process_->liveness->report_begun(process_->begun.fetch_add(1) + 1);
    errors_->begin_operation();
    ++operations_;
    return std::make_unique<GlooPending>(process_, calls_, errors_, worker_, worker_->add(call));
  }

  std::unique_ptr<Transport> split(int color, int key) override {
    const i64 own[3] = {color, key, members_[static_cast<std::size_t>(rank())]};
    std::vector<i64> all(3 * members_.size()), counts(members_.size(), 3);
    Collective c{.kind = Collective::all_gather, .dtype = DType::int64, .input = own, .output = all.data(), .count = 3};
    c.receive = counts;
    try {
      if (!start(c)->wait(process_->timeout))
        errors::raise<errors::UnavailableError>("split", "not all ranks have called it within the timeout");
    } catch (const errors::OpError&) {
      abort();  // before the buffers end
      throw;
    }
    std::vector<std::pair<i64, int>> chosen;  // key and place, which sorts them
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (all[3 * i] == color) chosen.emplace_back(all[3 * i + 1], static_cast<int>(i));
    std::sort(chosen.begin(), chosen.end());
    std::vector<int> members;
    int at = 0;
    for (const auto& [order, place] : chosen) {
      if (place == rank()) at = static_cast<int>(members.size());
      members.push_back(members_[static_cast<std::size_t>(place)]);
    }
    const std::string name = name_ + "/" + std::to_string(splits_++) + ":" + std::to_string(color);
    return std::make_unique<GlooTransport>(process_, name, std::move(members), at, process_->timeout);
  }

 private:
  const std::shared_ptr<Process> process_;
  const std::string name_;
  const std::vector<int> members_;  // their ranks in the world
  std::shared_ptr<::gloo::Context> context_;
  std::shared_ptr<WaitingCalls> calls_;
  std::shared_ptr<RaisedErrors> errors_;
  std::shared_ptr<Worker> worker_;
  i64 operations_ = 0;
  int splits_ = 0;
};

inline const char* environment(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// The store, and whether this process keeps it.
inline std::pair<Endpoint, bool> store_place(const LaunchInfo& launch) {
  if (const char* const store = environment("TANDEM_STORE")) return {Endpoint::parse("TANDEM_STORE", store), false};
  if (launch.master_address.empty() || launch.master_port == 0)
    errors::raise<errors::FailedPreconditionError>(
        "gloo", "the ranks need a place to meet: MASTER_ADDR and MASTER_PORT, or TANDEM_STORE, which tandem_run sets");
  return {{launch.master_address, launch.master_port}, launch.rank == 0};
}

inline bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}
// Of the interface that leads to the store, or of TANDEM_INTERFACE.
inline std::shared_ptr<::gloo::transport::Device> make_device(const Endpoint& store, const LaunchInfo& launch,
                                                              double timeout) {
  ::gloo::transport::tcp::attr a;
  if (const char* const name = environment("TANDEM_INTERFACE")) {
    a.iface = name;
  } else if (is_loopback(store.host)) {
    a.iface = "lo";
  } else {
    const distribute::detail::Attempt s =
        distribute::detail::try_connect(store.host, store.port, distribute::detail::moment_after(timeout));
    if (!s.socket.is_open())
      errors::raise<errors::UnavailableError>("gloo", "cannot reach the store at " + store.text() + ": " + s.error);
    a.hostname = distribute::detail::own_address(s.socket);
    // The host's own name may stand for a loopback address, 127.0.1.1, which means another machine to the others.
    const bool are_elsewhere = launch.size > launch.local_size;
    if (is_loopback(a.hostname) && (are_elsewhere || launch.is_joinable)) {
      std::string outward = distribute::detail::outward_address("gloo");
      if (outward.empty() && are_elsewhere)
        errors::raise<errors::UnavailableError>(
            "gloo", "this machine reaches the store at " + store.text() +
                        " only by a loopback address: name a network interface by TANDEM_INTERFACE");
      if (!outward.empty()) a.hostname = std::move(outward);
    }
  }
  try {
    const NoSigpipe no_sigpipe;  // the device starts a thread, which writes
    return ::gloo::transport::tcp::CreateDevice(a);
  } catch (const std::exception& e) {  // of Gloo's two kinds of errors, which have no other base
    errors::raise<errors::UnavailableError>(
        "gloo", "cannot use the network interface '" + (a.iface.empty() ? a.hostname : a.iface) + "': " + e.what());
  }
}

// Compares the number of ranks: rank 0 with all others, each of these with rank 0.
inline void check_size(TcpStore& store, const std::string& group, const LaunchInfo& launch, double timeout) {
  const std::string folder = group + "/size/", own = std::to_string(launch.size);
  const auto key = [&](int rank) { return folder + std::to_string(rank); };
  const auto compare = [&](int rank, const std::string& size) {
    if (size != own)
      errors::raise<errors::FailedPreconditionError>(
          "gloo", "rank " + std::to_string(launch.rank) + " belongs to a group of " + own + " ranks, but rank " +
                      std::to_string(rank) + " to one of " + size + ": WORLD_SIZE must be the same for all");
  };
  if (launch.rank > 0) {
    const std::string size =
        store.get(key(0), timeout);  // first: rank 0, which may keep the store, ends if they differ
    store.set(key(launch.rank), own);
    return compare(0, size);
  }
  store.set(key(0), own);
  for (int rank = 1; rank < launch.size; ++rank) compare(rank, store.get(key(rank), timeout));
}

inline std::unique_ptr<Transport> GlooTransport::rebuild() {
  Process& p = *process_;
  if (!environment("TANDEM_STORE"))
    errors::raise<errors::UnimplementedError>(
        "Communicator::rebuild",
        "the processes that are left meet at a store that outlives them: start them by tandem_run");
  const int own = members_[static_cast<std::size_t>(rank())];
  std::vector<int> members;
  while (members.empty()) {
    ++p.rebuilt;
    members = meet_again(p, p.rebuilt_name(p.rebuilt), own);
  }
  abort();  // all have come: nobody waits in an operation any more
  return go_on(process_, std::move(members), own);
}
inline std::unique_ptr<Transport> GlooTransport::go_on(const std::shared_ptr<Process>& process,
                                                       std::vector<int> members, int own) {
  Process& p = *process;
  // Gloo does not see that a process ends before it has connected.
  const double patience = std::min(p.timeout / 4, 15.);
  for (i64 end = 0;; ++p.rebuilt, members = meet_again(p, p.rebuilt_name(p.rebuilt), own)) {
    if (members.empty()) continue;
    const auto at = std::find(members.begin(), members.end(), own);
    if (at == members.end())
      errors::raise<errors::UnavailableError>(
          "Communicator::rebuild", "the other ranks have gone on without this one, of which nothing was heard");
    if (end == 0 || members != p.members) end = distribute::detail::moment_after(p.timeout);
    p.members = members;
    p.liveness->go_on(members);
    try {
      const int number = static_cast<int>(at - members.begin());
      return std::make_unique<GlooTransport>(process, p.rebuilt_name(p.rebuilt), members, number, patience);
    } catch (const errors::UnavailableError&) {  // one has ended meanwhile
      if (tandem::detail::nanoseconds_now() >= end) throw;
    }
  }
}

}  // namespace gloo_backend

namespace gloo_backend {
inline void begin_heartbeats(Process& p, const LaunchInfo& launch) {
  LivenessOptions o{.store = p.place, .folder = p.name + "/alive/", .rank = launch.rank, .size = launch.size};
  o.node = node_name(), o.timeout = p.timeout;
  if (environment("TANDEM_STORE")) o.keeper = "the launcher", o.newcomers = p.joins();
  p.liveness = std::make_unique<Liveness>(o);
}
// Of a process that was started later than the others.
inline std::unique_ptr<Transport> join_world(const std::shared_ptr<Process>& process, const LaunchInfo& launch,
                                             const std::string& attempt) {
  Process& p = *process;
  if (!environment("TANDEM_STORE"))
    errors::raise<errors::FailedPreconditionError>(
        "Communicator::world", "TANDEM_JOIN is 1, but there is no TANDEM_STORE where the others could be met");
  p.name = p.store.get(attempt + "/name", p.timeout);
  p.device = make_device(p.place, launch, p.timeout);
  std::vector<int> members = wait_to_join(p, launch.rank);
  begin_heartbeats(p, launch);
  distribute::detail::leave_at_exit(process);
  return GlooTransport::go_on(process, std::move(members), launch.rank);
}
}  // namespace gloo_backend

TANDEM_INLINE std::unique_ptr<Transport> gloo_transport(const LaunchInfo& launch, double timeout) {
  using namespace gloo_backend;
  const auto [place, is_here] = store_place(launch);
  std::unique_ptr<TcpStoreServer> server;
  if (is_here) server = std::make_unique<TcpStoreServer>(is_loopback(place.host) ? place.host : "", place.port);
  auto process = std::make_shared<Process>(timeout, std::move(server), place);
  // A store of the launcher outlives restarts, and the programs that a script runs one after the other.
  const std::string attempt = "group" + std::to_string(launch.restarts);
  if (launch.joins) return join_world(process, launch, attempt);
  const i64 use = process->store.add(attempt + "/uses/" + std::to_string(launch.rank), 1);
  const std::string name = attempt + "." + std::to_string(use);
  check_size(process->store, name, launch, timeout);
  process->store.set(attempt + "/name", name);
  process->name = name;
  process->device = make_device(place, launch, timeout);
  begin_heartbeats(*process, launch);
  distribute::detail::leave_at_exit(process);
  std::vector<int> members(static_cast<std::size_t>(launch.size));
  for (int i = 0; i < launch.size; ++i) members[static_cast<std::size_t>(i)] = i;
  process->members = members;
  return std::make_unique<GlooTransport>(process, name, std::move(members), launch.rank, timeout);
}

}  // namespace TANDEM_NS::distribute::impl

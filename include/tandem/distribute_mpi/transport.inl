// Definitions of distribute_mpi/transport.hpp: a communicator of MPI as a Transport.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tandem/base/warning.hpp"
#include "tandem/distribute/leave_at_exit.hpp"
#include "tandem/distribute/liveness.hpp"
#include "tandem/distribute/raised_errors.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute/waiting_calls.hpp"
#include "tandem/distribute_mpi/collectives.hpp"
#include "tandem/distribute_mpi/engine.hpp"
#include "tandem/distribute_mpi/place.hpp"
#include "tandem/distribute_mpi/transport.hpp"
#include "tandem/util/fnv1a.hpp"

namespace TANDEM_NS::distribute::impl {

namespace mpi {

/// What the transports of this process share: the store of the heartbeats, on rank 0, and this rank's heartbeat.
struct Heart {
  std::unique_ptr<TcpStoreServer> server{};
  std::shared_ptr<Liveness> liveness{};
  Endpoint place{};  // of the store, if there are heartbeats
  std::atomic<i64> begun{0};

  /// Of rank 0, which keeps the store: when something has gone wrong the others have a second to read what.
  void leave(int status) const {
    if (status != 0) liveness->wait_until_all_left(1);
  }
  bool sees_a_loss() const { return liveness && liveness->lost() > 0; }
  ///   hint  what else may be the cause, if no rank is missing
  [[noreturn]] void raise(const std::string& what, const char* hint = "") const {
    const std::string seen = liveness ? liveness->missing_within(0.3) : std::string();
    errors::raise<errors::UnavailableError>("mpi", what + (seen.empty() ? hint : "; " + seen));
  }
};

class MpiPending final : public Pending {
 public:
  ///   number  of the operation in its group, from 0
  MpiPending(Engine& engine, std::shared_ptr<Heart> heart, std::shared_ptr<RaisedErrors> errors,
             std::shared_ptr<WaitingCalls> calls, std::shared_ptr<Operation> op, const Collective& call, i64 number)
      : engine_(engine),
        heart_(std::move(heart)),
        errors_(std::move(errors)),
        calls_(std::move(calls)),
        op_(std::move(op)),
        call_(call),
        number_(number) {}
  bool wait(double seconds) override {
    const i64 moment = distribute::detail::moment_after(seconds);
    i64 lost_since = 0, question = distribute::detail::moment_after(RaisedErrors::period);
    double period = calls_ ? calls_->period() : 0;
    i64 comparison = distribute::detail::moment_after(period);
    std::string raised;
    const bool has_ended = engine_.wait(op_, moment, [&] {
      if (errors_ && tandem::detail::nanoseconds_now() >= question) {
        raised = errors_->before(number_);
        question = distribute::detail::moment_after(RaisedErrors::period);
        if (!raised.empty()) return true;
      }
      if (calls_ && tandem::detail::nanoseconds_now() >= comparison &&
          distribute::detail::moment_after(calls_->period()) < moment) {  // it may take so long
        calls_->compare(call_, number_);
        comparison = distribute::detail::moment_after(period *= 2);
      }
      if (!heart_->sees_a_loss()) return lost_since = 0, false;
      if (lost_since == 0) lost_since = tandem::detail::nanoseconds_now();
      return distribute::detail::seconds_since(lost_since) > patience;
    });
    if (has_ended && op_->state.load() == Operation::done) return true;
    if (engine_.is_abandoned()) errors::raise<errors::UnavailableError>("mpi", "the group was aborted");
    if (errors_ && raised.empty() && (has_ended || lost_since)) raised = errors_->any();
    if (!raised.empty()) errors::raise<errors::UnavailableError>("mpi", raised);
    if (has_ended) {
      if (calls_) calls_->compare(call_, number_);
      heart_->raise(op_->error,
                    ". Ranks that call different operations can cause this: TANDEM_DISTRIBUTED_CHECK=1 compares all of "
                    "them before");
    }
    if (lost_since) heart_->raise("the process of another rank has ended");
    return false;
  }
  i64 ended() const override { return op_->ended; }

 private:
  static constexpr double patience = 0.5;  // of what a rank that has ended sent before, some may still be on its way
  Engine& engine_;
  const std::shared_ptr<Heart> heart_;
  const std::shared_ptr<RaisedErrors> errors_;  // null without heartbeats
  const std::shared_ptr<WaitingCalls> calls_;   // likewise
  const std::shared_ptr<Operation> op_;
  const Collective call_;  // its buffers and counts are not looked at
  const i64 number_;
};

/// An object of each rank of a group.
template <class T>
std::vector<T> gather(Engine& engine, const T& own, int size, MPI_Comm group, double timeout) {
  const auto op = engine.complete(timeout, "meeting the ranks of a group", [&](Operation& o) {
    o.sent.resize(sizeof own), o.received.resize(sizeof own * static_cast<std::size_t>(size));
    std::memcpy(o.sent.data(), &own, sizeof own);
    o.requests.assign(1, MPI_REQUEST_NULL);
    constexpr int bytes = sizeof own;
    check(MPI_Iallgather(o.sent.data(), bytes, MPI_BYTE, o.received.data(), bytes, MPI_BYTE, group, o.requests.data()),
          "MPI_Iallgather");
  });
  std::vector<T> all(static_cast<std::size_t>(size));
  std::memcpy(all.data(), op->received.data(), op->received.size());
  return all;
}

class MpiTransport final : public Transport {
 public:
  ///   name  of the group: no other one has it
  MpiTransport(Engine& engine, MPI_Comm group, double timeout, std::shared_ptr<Heart> heart, std::string name)
      : engine_(engine), group_(group), timeout_(timeout), heart_(std::move(heart)), name_(std::move(name)) {
    int world_rank = 0;
    engine_.run([&] {
      check(MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
      check(MPI_Comm_rank(group_, &rank_), "MPI_Comm_rank");
      check(MPI_Comm_size(group_, &size_), "MPI_Comm_size");
      check(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), "MPI_Comm_rank");
    });
    members_ = gather(engine_, world_rank, size_, group_, timeout_);
    if (!heart_->liveness) return;
    errors_ = std::make_shared<RaisedErrors>(heart_->place, name_ + "/errors/", world_rank, node_name());
    calls_ = std::make_shared<WaitingCalls>("mpi", heart_->place, timeout_, name_, rank_);
  }
  const char* kind() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string node() const override { return node_name(); }
  void report_step(i64 step) override {
    if (heart_->liveness) heart_->liveness->report_step(step);
  }
  std::string last_seen() const override { return heart_->liveness ? heart_->liveness->missing(members_) : ""; }
  void report_error(const std::string& error) override {
    if (errors_) errors_->report(operations_, error);
  }
  void withdraw_error() override {
    if (errors_) errors_->begin_operation();
  }
  void abort() noexcept override {
    if (!engine_.is_abandoned() && heart_->liveness) heart_->liveness->give_up();
    engine_.abandon();
  }

  std::unique_ptr<Pending> start(const Collective& call) override {
    const auto op = begin_one(call);
    return std::make_unique<MpiPending>(engine_, heart_, errors_, calls_, op, call, operations_ - 1);
  }
  // MPI_Comm_split has no variant that returns at once, and waits for ever: it is called when all ranks are known to be
  // here, but one that dies within the call leaves the others in it.
  std::unique_ptr<Transport> split(int color, int key) override {
    Collective all_are_here;
    if (!start(all_are_here)->wait(timeout_))
      errors::raise<errors::UnavailableError>("split", "not all ranks have called it within the timeout");
    MPI_Comm part = MPI_COMM_NULL;
    engine_.run([&] { check(MPI_Comm_split(group_, color, key, &part), "MPI_Comm_split"); });
    const std::string name = name_ + "/" + std::to_string(splits_++) + ":" + std::to_string(color);
    return std::make_unique<MpiTransport>(engine_, part, timeout_, heart_, name);
  }

 private:
  std::shared_ptr<Operation> begin_one(const Collective& call) {
    if (engine_.is_abandoned()) errors::raise<errors::UnavailableError>("mpi", "the group was aborted");
    if (heart_->liveness) heart_->liveness->report_begun(heart_->begun.fetch_add(1) + 1);
    if (errors_) errors_->begin_operation();
    ++operations_;
    const std::size_t bytes = static_cast<std::size_t>(call.count) * size_of(call.dtype);
    return engine_.begin(engine_.wants_advance(bytes), [&](Operation& op) { begin(call, group_, op); });
  }

  Engine& engine_;
  const MPI_Comm group_;
  const double timeout_;
  const std::shared_ptr<Heart> heart_;
  const std::string name_;
  std::shared_ptr<RaisedErrors> errors_;  // null without heartbeats
  std::shared_ptr<WaitingCalls> calls_;   // likewise
  i64 operations_ = 0;
  int rank_ = 0, size_ = 1, splits_ = 0;
  std::vector<int> members_;  // their ranks in MPI_COMM_WORLD
};

// Where others reach rank 0: what the launcher says, or the loopback if all are here, or else this host's name.
struct Meeting {
  char host[256] = {};
  int port = 0;
};

// Equal on ranks of one machine: the number of its start, and the name, which differs between containers.
inline i64 machine_number() {
  char text[64] = {};
  if (std::FILE* const f = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    if (!std::fgets(text, sizeof text, f)) text[0] = '\0';
    std::fclose(f);
  }
  return static_cast<i64>(tandem::detail::fnv1a(text + node_name()));
}

// Opens the store on rank 0 and tells the others where; port 0 if it cannot be opened.
inline Meeting open_store(Heart& heart, const LaunchInfo& launch, bool are_all_here) {
  Meeting meeting;
  try {
    heart.server = std::make_unique<TcpStoreServer>(are_all_here ? "127.0.0.1" : "");
  } catch (const errors::OpError& e) {
    tandem::detail::warn(("distribute: rank 0 cannot keep heartbeats: " + e.message()).c_str());
    return meeting;
  }
  const std::string host = are_all_here                    ? "127.0.0.1"
                           : launch.master_address.empty() ? node_name()
                                                           : launch.master_address;
  std::strncpy(meeting.host, host.c_str(), sizeof meeting.host - 1);
  meeting.port = heart.server->port();
  return meeting;
}

inline std::shared_ptr<Heart> make_heart(Engine& engine, const LaunchInfo& launch, double timeout) {
  auto heart = std::make_shared<Heart>();
  Meeting meeting;
  int rank = 0, size = 1;
  engine.run([&] {
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  });
  if (size == 1) return heart;
  const Place own{machine_number(), own_processors()};
  const std::vector<Place> places = gather(engine, own, size, MPI_COMM_WORLD, timeout);
  const bool are_all_here =
      std::all_of(places.begin(), places.end(), [&](const Place& p) { return p.machine == places[0].machine; });
  engine.set_shares_processors(have_too_few_processors(places, own.machine));
  if (rank == 0) meeting = open_store(*heart, launch, are_all_here);
  const auto told = engine.complete(timeout, "meeting rank 0", [&](Operation& op) {
    op.sent.resize(sizeof meeting);
    std::memcpy(op.sent.data(), &meeting, sizeof meeting);
    op.requests.assign(1, MPI_REQUEST_NULL);
    check(MPI_Ibcast(op.sent.data(), static_cast<int>(sizeof meeting), MPI_BYTE, 0, MPI_COMM_WORLD, op.requests.data()),
          "MPI_Ibcast");
  });
  std::memcpy(&meeting, told->sent.data(), sizeof meeting);
  if (meeting.port == 0) return heart;  // without heartbeats
  LivenessOptions o{.store = {meeting.host, meeting.port}, .rank = rank, .size = size, .node = node_name()};
  o.timeout = timeout;
  try {
    heart->place = o.store;
    heart->liveness = std::make_shared<Liveness>(o);
    engine.watch(heart->liveness);
    if (rank == 0) distribute::detail::leave_at_exit(heart);
  } catch (const errors::UnavailableError& e) {
    const std::string text = "distribute: rank " + std::to_string(rank) +
                             " cannot send heartbeats to rank 0, so errors " +
                             "do not say who is missing: " + e.message();
    tandem::detail::warn(text.c_str());
  }
  return heart;
}

}  // namespace mpi

TANDEM_INLINE std::unique_ptr<Transport> mpi_transport(const LaunchInfo& launch, double timeout) {
  mpi::Engine& engine = mpi::Engine::get(timeout);
  const auto copy = engine.complete(timeout, "meeting the other ranks", [](mpi::Operation& op) {
    op.requests.assign(1, MPI_REQUEST_NULL);
    mpi::check(MPI_Comm_idup(MPI_COMM_WORLD, &op.group, op.requests.data()), "MPI_Comm_idup");
  });
  return std::make_unique<mpi::MpiTransport>(engine, copy->group, timeout, mpi::make_heart(engine, launch, timeout),
                                             "world");
}

}  // namespace TANDEM_NS::distribute::impl

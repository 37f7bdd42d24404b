// Definitions of distribute_mpi/transport.hpp: a communicator of MPI as a Transport.
#pragma once
#include <cstring>
#include <utility>

#include "tandem/base/warning.hpp"
#include "tandem/distribute/leave_at_exit.hpp"
#include "tandem/distribute/liveness.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute_mpi/collectives.hpp"
#include "tandem/distribute_mpi/engine.hpp"
#include "tandem/distribute_mpi/transport.hpp"

namespace TANDEM_NS::distribute::impl {

namespace mpi {

/// What the transports of this process share: the store of the heartbeats, on rank 0, and this rank's heartbeat.
struct Heart {
  std::unique_ptr<TcpStoreServer> server{};
  std::unique_ptr<Liveness> liveness{};
  std::atomic<i64> begun{0};

  /// Of rank 0, which keeps the store: when something has gone wrong the others have a second to read what.
  void leave(int status) const {
    if (status != 0) liveness->wait_until_all_left(1);
  }
  bool sees_a_loss() const { return liveness && liveness->lost() > 0; }
  [[noreturn]] void raise(const std::string& what) const {
    const std::string seen = liveness ? liveness->missing_within(0.3) : std::string();
    errors::raise<errors::UnavailableError>("mpi", seen.empty() ? what : what + "; " + seen);
  }
};

class MpiPending final : public Pending {
 public:
  MpiPending(Engine& engine, std::shared_ptr<Heart> heart, std::shared_ptr<Operation> op)
      : engine_(engine), heart_(std::move(heart)), op_(std::move(op)) {}
  bool wait(double seconds) override {
    const i64 moment = distribute::detail::moment_after(seconds);
    i64 lost_since = 0;
    const bool has_ended = engine_.wait(op_, moment, [&] {
      if (!heart_->sees_a_loss()) return lost_since = 0, false;
      if (lost_since == 0) lost_since = tandem::detail::nanoseconds_now();
      return distribute::detail::seconds_since(lost_since) > patience;
    });
    if (has_ended && op_->state.load() == Operation::done) return true;
    if (engine_.is_abandoned()) errors::raise<errors::UnavailableError>("mpi", "the group was aborted");
    if (has_ended) heart_->raise(op_->error);
    if (lost_since) heart_->raise("the process of another rank has ended");
    return false;
  }

 private:
  static constexpr double patience = 0.5;  // of what a rank that has ended sent before, some may still be on its way
  Engine& engine_;
  const std::shared_ptr<Heart> heart_;
  const std::shared_ptr<Operation> op_;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(Engine& engine, MPI_Comm group, double timeout, std::shared_ptr<Heart> heart)
      : engine_(engine), group_(group), timeout_(timeout), heart_(std::move(heart)) {
    engine_.run([&] {
      check(MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
      check(MPI_Comm_rank(group_, &rank_), "MPI_Comm_rank");
      check(MPI_Comm_size(group_, &size_), "MPI_Comm_size");
      members_.resize(static_cast<std::size_t>(size_));
      int world_rank = 0;
      check(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), "MPI_Comm_rank");
      check(MPI_Allgather(&world_rank, 1, MPI_INT, members_.data(), 1, MPI_INT, group_), "MPI_Allgather");
    });
  }
  const char* kind() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string node() const override { return node_name(); }
  double now() const override { return static_cast<double>(tandem::detail::nanoseconds_now()) * 1e-9; }
  void report_step(i64 step) override {
    if (heart_->liveness) heart_->liveness->report_step(step);
  }
  std::string last_seen() const override { return heart_->liveness ? heart_->liveness->missing(members_) : ""; }
  void abort() noexcept override {
    if (!engine_.is_abandoned() && heart_->liveness) heart_->liveness->give_up();
    engine_.abandon();
  }

  std::unique_ptr<Pending> start(const Collective& call) override {
    const auto op = begin_one(call);
    return std::make_unique<MpiPending>(engine_, heart_, op);
  }
  // MPI_Comm_split waits for ever: it is called when all ranks are known to be here.
  std::unique_ptr<Transport> split(int color, int key) override {
    Collective all_are_here;
    if (!MpiPending(engine_, heart_, begin_one(all_are_here)).wait(timeout_))
      errors::raise<errors::UnavailableError>("split", "not all ranks have called it within the timeout");
    MPI_Comm part = MPI_COMM_NULL;
    engine_.run([&] { check(MPI_Comm_split(group_, color, key, &part), "MPI_Comm_split"); });
    return std::make_unique<MpiTransport>(engine_, part, timeout_, heart_);
  }

 private:
  std::shared_ptr<Operation> begin_one(const Collective& call) {
    if (engine_.is_abandoned()) errors::raise<errors::UnavailableError>("mpi", "the group was aborted");
    auto op = std::make_shared<Operation>();
    if (heart_->liveness) heart_->liveness->report_begun(heart_->begun.fetch_add(1) + 1);
    engine_.run([&] { begin(call, group_, *op); });
    if (engine_.wants_advance(static_cast<std::size_t>(call.count) * size_of(call.dtype))) engine_.advance(op);
    return op;
  }

  Engine& engine_;
  const MPI_Comm group_;
  const double timeout_;
  const std::shared_ptr<Heart> heart_;
  int rank_ = 0, size_ = 1;
  std::vector<int> members_;  // their ranks in MPI_COMM_WORLD
};

// Where others reach rank 0: what the launcher says, or the loopback if all are here, or else this host's name.
struct Meeting {
  char host[256] = {};
  int port = 0;
};

inline std::shared_ptr<Heart> make_heart(Engine& engine, const LaunchInfo& launch, double timeout) {
  auto heart = std::make_shared<Heart>();
  Meeting meeting;
  int rank = 0, size = 1, local_size = 1;
  engine.run([&] {
    MPI_Comm here = MPI_COMM_NULL;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here), "MPI_Comm_split_type");
    check(MPI_Comm_size(here, &local_size), "MPI_Comm_size");
    check(MPI_Comm_free(&here), "MPI_Comm_free");
  });
  if (size == 1) return heart;
  if (rank == 0) {
    const bool are_all_here = local_size == size;
    heart->server = std::make_unique<TcpStoreServer>(are_all_here ? "127.0.0.1" : "");
    const std::string host = are_all_here                    ? "127.0.0.1"
                             : launch.master_address.empty() ? node_name()
                                                             : launch.master_address;
    std::strncpy(meeting.host, host.c_str(), sizeof meeting.host - 1);
    meeting.port = heart->server->port();
  }
  engine.run(
      [&] { check(MPI_Bcast(&meeting, static_cast<int>(sizeof meeting), MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast"); });
  LivenessOptions o{.store = {meeting.host, meeting.port}, .rank = rank, .size = size, .node = node_name()};
  o.timeout = timeout;
  try {
    heart->liveness = std::make_unique<Liveness>(o);
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
  MPI_Comm group = MPI_COMM_NULL;
  engine.run([&] { mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &group), "MPI_Comm_dup"); });
  return std::make_unique<mpi::MpiTransport>(engine, group, timeout, mpi::make_heart(engine, launch, timeout));
}

}  // namespace TANDEM_NS::distribute::impl

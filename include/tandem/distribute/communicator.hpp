// Communicator: a group of ranks, the processes (or simulated ones) that compute together. Part of the component
// tandem::distribute. Not here: collectives of tensors (collectives.hpp), how bytes travel (transport.hpp).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tandem/distribute/device_transport.hpp"
#include "tandem/distribute/transport.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS::distribute {

namespace impl {
struct Bucket;
class CallTimes;
struct Groups;
}  // namespace impl

enum class Backend : std::uint8_t {
  automatic,  ///< mpi if mpirun, srun or another launcher of MPI has started the process, otherwise gloo
  mpi,        ///< needs the component tandem::distribute_mpi: include its header
  gloo        ///< likewise tandem::distribute_gloo
};

struct WorldOptions {
  Backend backend = Backend::automatic;
  double timeout = 300;  ///< seconds that any operation may take, waiting for late ranks included; at most a year
};

/// A collective operation of a Communicator that was begun and may still run.
class TANDEM_API Running {
 public:
  Running() = default;
  Running(Running&&) = default;
  Running& operator=(Running&&) = default;
  /// Waits until it has ended; without one, returns at once.
  ///   throws  errors::UnavailableError if the group's timeout has passed or another rank is lost
  void wait();
  /// Whether there is one that was not waited for.
  explicit operator bool() const { return static_cast<bool>(call_); }
  /// It no longer keeps the group: where the group keeps it.
  void leave_group();

 private:
  friend class Communicator;
  struct Call;
  struct Delete {
    void operator()(Call* c) const;
  };
  explicit Running(Call* c) : call_(c) {}
  std::unique_ptr<Call, Delete> call_;
};

/// A group of ranks. Copies are handles to the same group. One thread of a rank uses its groups at a time, and every
/// rank calls the same operations of a group in the same order.
///
///   const auto world = distribute::Communicator::world();  // under mpirun, srun, tandem_run: all processes
///   std::printf("rank %d of %d\n", world.rank(), world.size());
///
/// An operation that does not end within the timeout raises errors::UnavailableError, which says who is missing. The
/// group is then dead: each later operation raises at once. A program ends then, and a launcher starts it again from
/// its newest checkpoint (tandem_run --max-restarts).
///
/// A child that fork() has made is not a rank: the operations and split() raise errors::FailedPreconditionError there,
/// unless there is no launcher.
class TANDEM_API Communicator {
 public:
  /// All processes that a launcher has started; without a launcher, this process alone. The first call connects them,
  /// later ones return the same group.
  ///   throws  errors::FailedPreconditionError if the backend is not part of this program, or a later call asks for
  ///           another one; errors::UnavailableError if the others cannot be reached within the timeout, also in all
  ///           later calls; errors::InvalidArgumentError as launch_info(), and for a timeout that is not positive
  static Communicator world(const WorldOptions& options = {});
  /// A group over a transport of one's own, by the name that ops find it by on this thread.
  ///   local_rank, local_size  counted on its node by node(); the transport is asked for all nodes
  Communicator(std::string name, std::unique_ptr<Transport> transport, double timeout);

  int rank() const;
  int size() const;
  /// The number of this rank among those on the same machine, and how many these are.
  int local_rank() const;
  int local_size() const;
  /// The number of this rank's machine, in the order of their lowest ranks, and how many machines there are.
  int node() const;
  int nodes() const;
  /// "world"; "world/2:0" for the third split of it, color 0.
  const std::string& name() const;
  double timeout() const;
  /// "mpi", "gloo", "sim"; "none" for a single process without a launcher.
  const char* backend() const;

  /// Divides the group: ranks with equal colors form a new one, ordered by key and rank. Collective. A group lives as
  /// long as the process: split once, not in each step.
  Communicator split(int color, int key = 0) const;
  /// After an operation of the world has raised: the world of the processes that are left, which all call it, with
  /// ranks from 0 on in the same order. Communicator::world() returns it from then on; the old world and its parts
  /// stay dead, and strategies keep their group: make others. For SimCluster, and for Gloo with tandem_run, whose store
  /// outlives the processes, and whose option --min-processes lets the others live.
  ///
  ///   for (auto world = distribute::Communicator::world();;) try {
  ///       train(world);  // makes the strategy, and goes on from the newest checkpoint
  ///       break;
  ///     } catch (const errors::UnavailableError&) {
  ///       world = world.rebuild();
  ///     }
  ///
  /// Processes that wait to join the world get the ranks behind the others': those that tandem_run has started in the
  /// place of one that failed, or on another machine (--max-replacements, --join). To take them in while nobody is
  /// lost, all call rebuild() when has_newcomers() was true; Trainer::fit raises for it behind a step.
  ///
  /// A process that has ended is left out at once; one that ends while the others connect, after a quarter of the
  /// timeout, at most 15 s; and one that is silent, after three quarters of the timeout, at most 15 s: rebuild() raises
  /// there if it wakes.
  ///   throws  errors::FailedPreconditionError for a group that is not dead, unless there are newcomers, and for a part
  ///           of the world;
  ///           errors::UnimplementedError for MPI, and without tandem_run; errors::UnavailableError if a process that
  ///           lives does not come within the timeout, or if the others have gone on without this one
  Communicator rebuild() const;
  /// Whether processes wait to join the world, in any rank's eyes: the same in all of them. Collective.
  ///   throws  errors::FailedPreconditionError for a part of the world
  bool has_newcomers() const;
  /// Returns when every rank has called it.
  void barrier() const;

  /// Tells the group's other ranks, for their errors, which step this rank is in. In the reports of strategies of this
  /// very group a step begins.
  void set_step(i64 step) const;
  /// The step of the latest set_step; -1 before.
  i64 step() const;

  /// Tells the other ranks that an error has ended what this one does in the group: those that wait for it, or come to
  /// do so, raise errors::UnavailableError within a second, with the rank and the first line of the text. Nothing
  /// happens to ranks that have reported an error behind the same operation, as all do that raise the same one, nor if
  /// this rank begins its next operation within half a second. Trainer's functions and strategy.run() report what they
  /// raise; a loop of one's own calls it where it catches an exception.
  void report_error(const std::string& error) const;

  /// Runs an operation on buffers; the ops of collectives.hpp do it with tensors.
  ///   op     its name in errors
  ///   label  what is reduced or sent, for errors: "'dense/kernel'", "bucket 3 of 7 (4.2 MB)"
  ///   throws errors::UnavailableError as described above; errors::FailedPreconditionError if ranks call different
  ///          operations, or the same ones with other sizes: before each of the first 100 operations of a group, and
  ///          before all of them if the environment variable TANDEM_DISTRIBUTED_CHECK is 1; later ones with the next
  ///          hundredth one, and, over Gloo and over MPI with heartbeats, when they have waited for a second
  void run(const Collective& call, const char* op, const std::string& label) const;
  /// Begins one. The buffers must live, and not be used, until wait() has returned or raised.
  Running start(const Collective& call, const char* op, const std::string& label) const;

  /// Begins one on buffers in the memory of a GPU, behind what was launched there, and returns without waiting for the
  /// GPU. When one has failed, each wait for the GPU raises, until the next operation does so and the group is dead.
  ///   kernel   the call whose kernel begins it
  ///   returns  its number for join()
  ///   throws   errors::UnimplementedError if nothing connects GPUs (DeviceTransport), or not for this dtype
  i64 launch(const Collective& call, const KernelCall& kernel, const char* op, const std::string& label) const;
  /// Lets what is launched on the GPU from now on wait for its end. The buffers may be used, or released, then.
  void join(i64 number, const KernelCall& kernel) const;

  /// Whether both are the same group.
  friend bool operator==(const Communicator& a, const Communicator& b) { return a.state_ == b.state_; }

  struct State;

 private:
  friend struct impl::Groups;
  static Ref<Opaque> make_state(std::string name, std::unique_ptr<Transport> transport, double timeout);
  void connect() const;
  explicit Communicator(Ref<Opaque> state) : state_(std::move(state)) {}
  State& state() const;
  DeviceTransport& on(Device device, const char* op) const;
  Ref<Opaque> state_;  // a State, a complete type only inside the library
};

namespace impl {

/// The groups of this rank by name: those of the process, or of the simulated rank whose thread this is.
struct TANDEM_API Groups {
  /// The group of that name, as ops look it up.
  ///   throws  errors::FailedPreconditionError if this rank has none
  static Communicator find(const char* op, const std::string& name);
  static Bucket& bucket(const Communicator& group, i64 number);
  /// Of the group that a caller has passed: ops look it up by its name, which the world keeps when it is rebuilt.
  ///   throws  errors::UnavailableError if it is dead
  static void check_alive(const char* op, const Communicator& group);
  /// The world of a process that joins it, over a transport to those that have taken it in.
  static Communicator join(std::unique_ptr<Transport> transport, double timeout);
  /// Whether this rank knows of processes that wait to join.
  static bool sees_newcomers(const Communicator& group);
  /// Begins, or ends, to count the group's operations and steps.
  static void add_report(const Communicator& group, CallTimes& times);
  static void remove_report(const Communicator& group, const CallTimes& times);
  /// Lets rebuild() take them in, when all ranks know of it at the same point.
  static void expect_newcomers(const Communicator& group);
};

/// Makes a simulated rank's groups those of this thread.
class TANDEM_API GroupsScope {
 public:
  [[nodiscard]] GroupsScope();
  GroupsScope(const GroupsScope&) = delete;
  GroupsScope& operator=(const GroupsScope&) = delete;
  ~GroupsScope();

 private:
  void* before_;
};

/// Divides the elements of floating or complex tensors in host memory by the number of ranks.
TANDEM_API void divide(void* data, DType dtype, i64 count, int ranks);
/// The function that combines elements of a dtype, or null if the op is not defined for it.
TANDEM_API CombineFn combine_fn(ReduceOp op, DType dtype);

}  // namespace impl

}  // namespace TANDEM_NS::distribute

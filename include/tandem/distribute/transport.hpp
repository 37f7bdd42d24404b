// Transport: how the ranks of a group exchange bytes. Part of the component tandem::distribute. MPI, Gloo and the
// simulated cluster implement it. Not here: tensors, error texts, time limits (communicator.hpp).
#pragma once
#include <memory>
#include <string>

#include "tandem/base/dtype.hpp"
#include "tandem/base/span.hpp"

namespace TANDEM_NS::distribute {

/// How elements of different ranks become one.
enum class ReduceOp : std::uint8_t { sum, mean, min, max, prod };
/// "sum".
constexpr const char* name(ReduceOp op) {
  constexpr const char* names[] = {"sum", "mean", "min", "max", "prod"};
  return names[static_cast<int>(op)];
}

/// Combines elements one by one: into[i] = op(into[i], from[i]).
using CombineFn = void (*)(const void* from, void* into, i64 count);

/// One collective operation, as one rank of a group calls it. All buffers are in host memory.
struct Collective {
  enum Kind : std::uint8_t { barrier, all_reduce, broadcast, all_gather, reduce_scatter, all_to_all };

  Kind kind = barrier;
  DType dtype = DType::uint8;   ///< any but string
  const void* input = nullptr;  ///< of all_reduce also equal to `output`; of broadcast unused
  void* output = nullptr;       ///< of broadcast also the input of the root
  i64 count = 0;                ///< elements of the input; of broadcast, of the output
  int root = 0;                 ///< broadcast: whose elements all get
  ReduceOp op = ReduceOp::sum;  ///< all_reduce and reduce_scatter: any but mean
  CombineFn combine = nullptr;  ///< the same for this dtype as a function
  /// all_gather and all_to_all: what must be equal in all ranks, for the comparison of calls: the elements of a row, or
  /// of all rows where these are equally many everywhere.
  i64 unit = 1;
  /// all_to_all: how many elements of `input` go to each rank, one rank's behind another's.
  Span<const i64> send = {};
  /// Elements of `output` by rank. all_gather: from each rank; all_to_all: likewise; reduce_scatter: `input` has these
  /// for each rank, and the output this rank's.
  Span<const i64> receive = {};
};

/// A collective operation that was begun.
class TANDEM_API Pending {
 public:
  virtual ~Pending() = default;
  /// Waits until the result is in the output, at most so many seconds.
  ///   returns  whether it is there
  ///   throws   errors::UnavailableError if it can never be: another rank ended, the connection broke;
  ///            errors::FailedPreconditionError if it is known that another rank has begun another operation
  virtual bool wait(double seconds) = 0;
  /// After wait() has returned true: when the operation ended, which may be long before, in nanoseconds of the
  /// monotonic clock; 0: it is not known, and counts as the moment at which wait() has returned.
  virtual i64 ended() const { return 0; }
};

/// Connects the ranks of one group. One thread of a rank uses it at a time. Every rank begins the same operations in
/// the same order; a rank may begin several before it waits for the first.
class TANDEM_API Transport {
 public:
  virtual ~Transport() = default;
  /// "mpi", "gloo", "sim".
  virtual const char* kind() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The machine on which this rank runs. Ranks with equal texts share one.
  virtual std::string node() const = 0;
  /// Begins an operation. The buffers, `send` and `receive` must live until it has ended, by a wait() that returned
  /// true, or until this object was aborted. Its Pending may be destroyed before.
  virtual std::unique_ptr<Pending> start(const Collective& call) = 0;
  /// Divides the ranks into groups of equal color, ordered by key and rank. A collective operation: every rank calls
  /// it. The new transport may outlive this one.
  virtual std::unique_ptr<Transport> split(int color, int key) = 0;
  /// The clock of reports, in nanoseconds: the monotonic clock, unless the transport has one of its own.
  virtual i64 now() const;
  /// Tells the others which step this rank is in, for last_seen(). Cheap: at most a store.
  virtual void report_step(i64) {}
  /// What is known of the ranks that do not answer: "rank 2 (node b) was last seen at step 136, 31 s ago"; empty if
  /// nothing is. Called by any thread.
  virtual std::string last_seen() const { return {}; }
  /// Tells the others that an error has ended what this rank does in the group. Those that wait for an operation which
  /// it does not begin within half a second raise errors::UnavailableError with the text; but not those that have
  /// reported an error behind the same operation. Takes a few seconds at most.
  virtual void report_error(const std::string&) {}
  /// Withdraws what report_error() has told, as start() does: an operation begins that is not this transport's. Cheap
  /// if nothing was told.
  virtual void withdraw_error() {}
  /// Of the world: whether processes wait to join it, as far as this rank knows. Cheap: a load.
  virtual bool sees_newcomers() const { return false; }
  /// Of the world, after an operation has failed, or to take in processes that wait to join it: meets those that are
  /// left, all of which call it, and connects them anew in the order of their ranks, the new ones behind them.
  ///   throws  errors::UnimplementedError if this kind cannot do that; errors::UnavailableError if a process that lives
  ///           does not come within the timeout, or if the others have gone on without this one
  virtual std::unique_ptr<Transport> rebuild();
  /// Gives up: wait() raises afterwards, and this process neither reads nor writes the buffers of operations that were
  /// begun.
  virtual void abort() noexcept = 0;
};

/// What a launcher told this process: OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, or RANK and WORLD_SIZE with
/// LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT as tandem_run sets them.
struct LaunchInfo {
  const char* launcher = nullptr;  ///< "mpirun", "srun", "tandem_run"; null: none, one process
  int rank = 0, size = 1, local_rank = 0, local_size = 1;
  std::string master_address = {};  ///< where rank 0 can be reached; empty: not told
  int master_port = 0;
  int restarts = 0;          ///< how often tandem_run has started the group again: TANDEM_RESTART_COUNT
  bool joins = false;        ///< started later than the others, who are to take it in: TANDEM_JOIN is 1
  bool is_joinable = false;  ///< others may join later, also if this is the only process: TANDEM_JOINABLE is 1
};
/// Reads the environment.
///   throws  errors::InvalidArgumentError for numbers that are damaged or contradict each other, with the variable
TANDEM_API LaunchInfo launch_info();

namespace impl {
/// Makes the transport of all processes. `timeout`: seconds to meet them.
using MakeTransport = std::unique_ptr<Transport> (*)(const LaunchInfo& launch, double timeout);
/// Makes a backend known to Communicator::world(); the header of a backend's component does it where it is included.
///   name  "mpi", "gloo": text that lives forever
TANDEM_API bool add_backend(const char* name, MakeTransport make) noexcept;
}  // namespace impl

}  // namespace TANDEM_NS::distribute

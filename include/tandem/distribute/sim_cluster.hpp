// SimCluster: ranks as threads of one process with a clock of their own, for tests of programs that run on several
// machines. Part of the component tandem::distribute.
#pragma once
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute {

/// Something that goes wrong in a SimCluster.
struct SimFault {
  enum Kind : std::uint8_t {
    kill,   ///< the rank ends as a process that is killed: its stack unwinds, it answers nobody any more
    stop,   ///< it stops, as by SIGSTOP, for `seconds`; 0: forever
    delay,  ///< its next message arrives `seconds` later: a lost packet that is sent again
    slow    ///< from now on each of its operations takes `seconds` more
  } kind = kill;
  int rank = 0;
  i64 at = 0;          ///< before the rank's collective operation of this number, counted from 0
  double seconds = 0;  ///< of virtual time
};

struct SimOptions {
  u64 seed = 0;                   ///< determines in which order the ranks run
  double latency = 20e-6;         ///< seconds that a message takes
  double bytes_per_second = 1e9;  ///< of each rank's link
  double jitter = 0.2;            ///< messages take up to this part longer, by the seed
  double timeout = 30;            ///< of the world, in virtual seconds
  int ranks_per_node = 1;         ///< how many ranks share a (pretended) machine
  /// Processes that are started later, in virtual seconds: each waits until the others take it in, by
  /// Communicator::rebuild(). They are the ranks behind the others of the cluster.
  std::vector<double> newcomers = {};
  int max_restarts = 0;               ///< how often everybody starts again after a rank was killed, as tandem_run does
  std::vector<SimFault> faults = {};  ///< each happens once, also over restarts
};

/// A cluster in one process. Each rank is a thread, and one runs at a time: which one, whenever a rank communicates, is
/// drawn from the seed, so that a run can be repeated. Messages cost time of a clock that computation does not move.
///
///   distribute::SimCluster cluster(8, {.seed = 3});
///   cluster.run([](const distribute::Communicator& world) {
///     const Tensor mean = distribute::all_reduce(constant(float(world.rank())), {.op = distribute::ReduceOp::mean});
///   });
///
/// Communicator::world() is the rank's own in these threads, and so are the random numbers of ops without a generator.
/// Each rank makes its own Variables: a traced function holds those that it assigns while it runs, so that ranks which
/// share one would wait for each other forever. An operation that not all ranks call raises errors::UnavailableError in
/// those that do, when its timeout of virtual time has passed; nobody waits in real time.
class TANDEM_API SimCluster {
 public:
  ///   throws  errors::InvalidArgumentError for less than one rank, a rate or time that is not positive, a rank of a
  ///           fault that there is not
  explicit SimCluster(int ranks, SimOptions options = {});
  SimCluster(SimCluster&&) noexcept;
  SimCluster& operator=(SimCluster&&) noexcept;
  ~SimCluster();

  /// Calls f in each rank, with the world, and returns when all have ended.
  ///   throws  what the ranks raise, that of the lowest rank; errors::AbortedError if ranks wait for each other in
  ///           groups without a timeout: it has each rank's operation
  template <class F>
    requires std::invocable<F&, const Communicator&>
  void run(F&& f) {
    run_ranks([](void* g, const Communicator& c) { (*static_cast<std::remove_reference_t<F>*>(g))(c); },
              const_cast<void*>(static_cast<const void*>(&f)));
  }

  /// The clock of the slowest rank after the latest run, in seconds.
  double time() const;
  /// How often the latest run has started again.
  int restarts() const;
  /// What each rank raised in the latest run's last start: empty if nothing, "killed" for a killed one, "has not
  /// joined" for a newcomer whom the others have not taken in.
  const std::vector<std::string>& errors() const;

 private:
  using Body = void (*)(void* f, const Communicator&);
  void run_ranks(Body body, void* f);
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace TANDEM_NS::distribute

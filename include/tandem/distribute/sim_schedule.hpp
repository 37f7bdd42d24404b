// SimSchedule: which simulated rank runs, and what time it is for each. Part of the component tandem::distribute. For
// the definitions of sim_cluster.hpp.
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tandem/distribute/sim_cluster.hpp"

namespace TANDEM_NS::distribute::impl {

/// Unwinds the stack of a rank that a fault kills. Not an error: programs that catch std::exception do not stop it.
struct SimKilled {};

/// What a rank has reported to have raised.
struct SimError {
  i64 operations = -1;  // of the group, that the rank had begun
  double at = 0;        // on its clock
  std::string text = {};
  bool is_withdrawn = false;  // it has begun another operation
};

struct SimGroup;

/// One operation of a group, as its ranks call it.
struct SimOperation {
  std::vector<const Collective*> calls;  // by rank of the group; null: not called yet, or left
  std::vector<double> since;             // when each called it
  int arrived = 0;
  bool has_ended = false;
  bool is_hopeless = false;  // a rank has left before it ended
  double end = 0;            // when the result is there
  std::string mismatch;      // that ranks called different operations
  const SimGroup* group = nullptr;
  i64 number = 0;  // in the group
};

/// A group of ranks.
struct SimGroup {
  int id = 0;
  std::vector<int> members;                            // ranks of the cluster
  std::map<i64, std::shared_ptr<SimOperation>> calls;  // by their number; those that some rank has not ended
  std::map<int, SimError> errors;                      // the latest of each rank of the group
  std::vector<int> here;                               // the members that wait for the next group
  std::shared_ptr<SimGroup> next;                      // of those that were left
};

/// The clocks and the turns of all ranks. One rank's thread runs at a time; functions are called by it.
class SimSchedule {
 public:
  ///   faults  those that are still to come; each is removed when it happens
  SimSchedule(int ranks, const SimOptions& options, std::vector<SimFault>& faults);

  /// Waits until it is this rank's turn for the first time.
  void begin(int rank);
  /// Ends a rank's last turn.
  void end(int rank);
  /// Counts an operation of the rank, and lets its faults happen.
  void count(int rank);
  /// Begins an operation; the last rank that arrives performs it.
  std::shared_ptr<SimOperation> arrive(SimGroup& group, int member, i64 number, const Collective& call);
  /// Lets others run until the operation has ended or so much time has passed. Returns whether it has ended.
  ///   throws  errors::UnavailableError with what another rank has raised, if that does not begin the operation
  bool wait(int rank, int member, const SimOperation& operation, double seconds);
  /// A rank has raised an error behind so many operations of the group.
  void report(SimGroup& group, int member, i64 operations, const std::string& error);
  /// A rank gives up an operation: it cannot be performed any more, unless it was.
  void leave(SimOperation& operation, int member);
  /// Whether a newcomer waits, on the rank's clock.
  bool sees_newcomers(int rank);
  /// The group that has taken in a newcomer, whose turn it is; null: all others have ended.
  std::shared_ptr<SimGroup> joined(int rank);
  /// The group of those members that have not ended, and of newcomers, when all members that have not have called it.
  ///   throws  errors::UnavailableError if they do not within the timeout
  std::shared_ptr<SimGroup> rebuild(const std::shared_ptr<SimGroup>& group, int member);
  /// The group of these members, which are the same objects for all of them.
  std::shared_ptr<SimGroup> group(int parent, i64 split, int color, const std::vector<int>& members);

  double time(int rank) const { return ranks_[static_cast<std::size_t>(rank)].clock; }
  const SimOptions& options() const { return options_; }

 private:
  struct Rank {
    enum State : std::uint8_t { ready, waiting, outside, ended } state = ready;  // outside: a newcomer
    std::condition_variable turn;
    double clock = 0, deadline = 0, late = 0, slow = 0, since = 0;  // since: when a newcomer is there
    i64 operations = 0;
    const SimOperation* operation = nullptr;  // that it waits for
    bool is_killed = false;
    std::shared_ptr<SimGroup> joined;  // of a newcomer
  };
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void pass_turn(std::unique_lock<std::mutex>& lock, int rank);
  int next();  // whose turn it is; -1: all have ended
  void perform(SimOperation& operation);
  double cost(const SimOperation& operation);
  void time_out();
  void finish_rebuild(SimGroup& group);
  void take_in_newcomers(const std::shared_ptr<SimGroup>& group);
  static const SimError* error_for(const SimOperation& operation, int member);
  std::string waiting_text() const;

  const SimOptions options_;
  std::vector<SimFault>& faults_;
  std::mutex mutex_;
  std::vector<Rank> ranks_;
  std::mt19937_64 draws_;
  int running_ = -1;
  std::string deadlock_;
  std::map<std::tuple<int, i64, int>, std::shared_ptr<SimGroup>> groups_;
};

}  // namespace TANDEM_NS::distribute::impl

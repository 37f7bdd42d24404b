// Liveness: each rank tells a store once a second that it lives and where it is, so that the others can say who is
// missing when an operation does not end. For transports.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/distribute/tcp_store.hpp"

namespace TANDEM_NS::distribute::impl {

struct LivenessOptions {
  Endpoint store = {};
  std::string folder = "alive/";  ///< the keys of the group begin so
  int rank = 0, size = 1;
  std::string node = {};          ///< the name of this machine
  const char* keeper = "rank 0";  ///< who keeps the store
  std::string newcomers = {};     ///< the keys of processes that wait to join begin so; empty: they are not looked for
  double timeout = 300;  ///< of the group's operations: heartbeats are at most a second and an eighth of it apart
};

/// The heartbeat of a process, from a thread of its own, and what the store knows of the others.
class TANDEM_API Liveness {
 public:
  ///   throws  errors::UnavailableError if the store cannot be reached within 15 s, or the timeout if it is less
  explicit Liveness(const LivenessOptions& options);
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;
  /// As leave().
  ~Liveness();
  /// Says that the process leaves the group, and ends the thread: others do not take it for dead. If the store does not
  /// answer, takes as long as a heartbeat that has begun: a quarter of the timeout, at most 10 s, and about a second.
  void leave();
  /// Says that this rank has given up after an error: others do not take it for the cause. Takes at most half a second.
  void give_up();
  /// The opposite, when the ranks that are left have met again. lost() counts anew from then on.
  ///   members  who belongs to the group now, newcomers that it has taken in among them: they wait no more
  ///   throws   errors::UnavailableError if the store does not answer
  void go_on(const std::vector<int>& members = {});
  /// The ranks that have neither left nor ended, and from which the store has heard for less than `silent` seconds.
  ///   store   a connection to it: this one's own belong to the heartbeats
  ///   throws  errors::UnavailableError if the store does not answer
  std::vector<int> living(TcpStore& store, double silent) const;
  /// Lets ranks count as such that have left, whatever they do from now on.
  ///   throws  errors::UnavailableError if the store does not answer
  void forget(TcpStore& store, Span<const int> ranks) const;

  /// What the next heartbeat says: the step, and how many operations this rank has begun.
  void report_step(i64 step);
  void report_begun(i64 operations);
  /// How many ranks have ended without leaving the group, as of the last heartbeat; the process that keeps the store is
  /// one if nobody listens there any more, or if it has not answered for as long as the group's timeout. Cheap: a load.
  int lost() const;
  /// Whether processes wait to join, as of the last heartbeat: waits_to_join. Cheap: a load.
  bool sees_newcomers() const;
  /// What is known of ranks that are lost or silent, or behind this one although it waits long enough to be sure; empty
  /// if nothing is. Takes at most three seconds, or half of one if the store has not answered heartbeats lately.
  ///   ranks  of which; empty: of all
  std::string missing(Span<const int> ranks = {}) const;
  /// missing(), asked again until it says something, at most so many seconds: a connection may break before the store
  /// knows why.
  std::string missing_within(double seconds, Span<const int> ranks = {}) const;
  /// Waits until every other rank has left or ended, at most so many seconds.
  void wait_until_all_left(double seconds) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Seconds after which a process that says nothing counts as one that is gone; heartbeats of a machine that is busy
/// come late.
inline constexpr double silent_after = 15;
/// What a process that waits to join a group writes to the store, tied to its connection, once a second.
inline constexpr const char* newcomer_text = "waits";
/// Whether an entry of the store is that of such a process, and it lives.
inline bool waits_to_join(const TcpStore::Entry& e) {
  return e.value == newcomer_text && !e.is_lost && e.age < silent_after;
}

/// The name of this machine.
TANDEM_API std::string node_name();

}  // namespace TANDEM_NS::distribute::impl

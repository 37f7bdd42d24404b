// Replicas: the processes that train together, as Trainer::fit sees them. Behind trainer.hpp.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "tandem/core/replication.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tandem/train/history.hpp"
#include "tandem/train/run_keeper.hpp"

namespace TANDEM_NS::train::detail {

/// Those of the strategy whose scope fit() is called in; without one, this process alone. All functions but the first
/// four must be called by every process at the same point.
class Replicas {
 public:
  bool are_several() const { return replication_ && TANDEM_VIRTUAL(*replication_, Replication::size)() > 1; }
  /// Whether this is the one that writes files and shows progress.
  bool is_first() const { return !replication_ || TANDEM_VIRTUAL(*replication_, Replication::rank)() == 0; }

  i64 rank() const { return replication_ ? TANDEM_VIRTUAL(*replication_, Replication::rank)() : 0; }
  i64 size() const { return replication_ ? TANDEM_VIRTUAL(*replication_, Replication::size)() : 1; }

  bool any(bool condition) const;
  /// Whether another process has an error. Also replaces each number as largest() does.
  ///   throws  that of this one, also if the others cannot be asked
  bool others_raised(const std::exception_ptr& error, std::vector<i64>& numbers) const;
  bool others_raised(const std::exception_ptr& error) const {
    std::vector<i64> none;
    return others_raised(error, none);
  }
  /// Replaces each number by the largest that a process has.
  void largest(std::vector<i64>& numbers) const;
  /// Gives all of them the state of the first one's global generator.
  void share_generator() const;
  void begin_step(i64 step) const;
  /// Whether processes wait to take part, as far as this one knows. Not together with the others.
  bool see_newcomers() const;
  /// Ends what they do together, behind a step, so that newcomers can be taken in.
  ///   throws  errors::UnavailableError
  void end_for_newcomers(i64 step) const;
  /// Gives all processes what the first one has restored, except for the rows that each of them has.
  ///   restored  whether it has restored something; the same is returned in all processes
  bool share(bool restored, RunPlace& place, History& history, const std::vector<CheckpointItem>& items) const;
  /// Adds up the Variables of all processes.
  void add_up(const std::vector<CheckpointItem>& items) const;
  /// The text that the first process gives.
  std::string shared(const std::string& text) const;

 private:
  Values shared(const Values& values) const;
  Replication* const replication_ = tandem::detail::replication;
};

}  // namespace TANDEM_NS::train::detail

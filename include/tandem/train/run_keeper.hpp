// RunKeeper: keeps a call of Trainer::fit in the folder of a run, so that the same call goes on after an interruption.
// Behind trainer.hpp.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/train/checkpoint_manager.hpp"
#include "tandem/train/run_directory.hpp"
#include "tandem/train/shard_files.hpp"
#include "tandem/train/signals.hpp"
#include "tandem/train/trainer.hpp"

namespace TANDEM_NS::train::detail {

/// Where a training is, besides its Variables.
struct RunPlace {
  i64 epoch = 0, step = 0, step_in_epoch = 0;
  bool stopped = false;          // by a callback
  data::Position data = {};      // of the next batch
  std::string seek_points = {};  // of the data set
  Values validation = {};        // the latest of the epoch so far
  Values part = {};              // of the epoch within which the steps have ended; none if they have not
  std::string checkpoint = {};   // from which it was restored: the name of its file
  ShardSet shards = {};          // the files beside the checkpoint
};

class RunKeeper {
 public:
  /// Opens the folder of a run.
  ///   facts   run_facts
  ///   model   of the Trainer; null if it has a step of its own
  ///   throws  as RunDirectory and check_facts
  RunKeeper(const FitOptions& options, const Metadata& facts, const Module* model);
  /// Says what checkpoints keep, before the first one is restored or saved; callbacks' states and the global random
  /// generator are added.
  void keep(const FitOptions& options, std::vector<CheckpointItem> items);
  /// Restores the latest checkpoint, if there is one; with FitOptions::fall_back the latest one that is not damaged.
  bool restore(RunPlace& place, History& history);
  /// Saves. A full disk, or a folder that cannot be written, is a warning, once, unless it is the `last` save of a run:
  /// training goes on, and later saves try again. Returns whether it was saved, or is being saved.
  bool save(const RunPlace& place, const History& history, bool last);
  /// Whether a save is due after this step.
  bool is_due(i64 step);
  /// After the first Ctrl-C.
  bool is_interrupted() const { return interrupt_.requested(); }
  /// Whether SIGUSR1 has asked for a save since the last call.
  bool is_save_requested() { return interrupt_.save_requested(); }
  int exit_status() const { return interrupt_.exit_status(); }
  /// The step of the newest checkpoint that there is; -1 if there is none.
  i64 newest() const;
  /// The step of the oldest checkpoint that there is; 0 if there is none.
  i64 oldest() const;
  /// Waits for what is being written.
  void close() { manager_->close(); }

 private:
  Interrupt interrupt_;  // before the folder is there: who waits for its files may send a signal then
  const RunDirectory directory_;
  const i64 save_steps_;
  const bool falls_back_;
  const SavedState counters_;
  const std::vector<Variable> numbers_;  // the fields of a RunPlace
  std::optional<CheckpointManager> manager_;
  bool warned_ = false;
};

}  // namespace TANDEM_NS::train::detail

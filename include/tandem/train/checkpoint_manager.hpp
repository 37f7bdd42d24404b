// CheckpointManager: a folder of checkpoints of a run, of which the latest ones and the best are kept.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/train/checkpoint.hpp"
#include "tandem/train/checkpoint_index.hpp"

namespace TANDEM_NS::train {

struct CheckpointManagerOptions {
  int max_to_keep = 5;  ///< the latest ones, besides those that the next options keep; 0: all
  /// Keep one for each span of so many hours forever: as in TensorFlow, a checkpoint that is so much younger than the
  /// last one that was kept in this way stays when its turn to be removed comes.
  std::optional<double> keep_checkpoint_every_n_hours = {};
  std::string checkpoint_name = "ckpt";  ///< files are named by it and the step: ckpt-7.safetensors
  std::string best_metric = {};          ///< keep the best one by this metric, which each save() is given, too
  Better better = Better::lower;         ///< for a loss; Better::higher for an accuracy
  bool async = false;                    ///< save() returns once it has the values; a thread writes them
  i64 max_shard_bytes = 0;               ///< > 0: several files for each checkpoint (io/safetensors_shards.hpp)
  double (*clock)() = nullptr;           ///< seconds since 1970; default: the system's clock
};

struct SaveOptions {
  Metrics metrics = {};    ///< by which checkpoints are compared: {{"loss", 0.25}}
  Metadata metadata = {};  ///< texts that read_metadata() returns
};

struct RestoreLatestOptions {
  bool fall_back = false;  ///< go on to the checkpoint before one that is damaged, with a warning
  bool partial = false;    ///< as in RestoreOptions
};

struct RestoredCheckpoint {
  std::string path = {};              ///< of the checkpoint; "" if there is none
  i64 step = 0;                       ///< that it was saved at; 0 if there is none
  std::vector<std::string> errors{};  ///< why .fall_back went past others, the latest one first
  explicit operator bool() const { return !path.empty(); }
};

/// Saves a checkpoint after every so many steps, removes old ones, and goes on from the latest.
///
///   train::CheckpointManager manager(checkpoint, "runs/a", {.max_to_keep = 3});
///   i64 step = manager.restore_or_initialize().step;
///   for (; step < 1000; ++step) {
///     if (step % 100 == 0) manager.save(step);
///     train_step();
///   }
///
/// A checkpoint is one safetensors file with a checksum for each tensor. It has its name once it is complete; then the
/// folder's index is replaced, and old files are removed. So a process that is killed, or a full disk, leaves the
/// checkpoints that were there. Other processes may read the folder meanwhile; one process at a time writes it
/// (train::RunDirectory keeps others away). A checkpoint of the same step is replaced.
///
/// With `.async`, save() only keeps the present values, which later steps do not change, and returns. One thread writes
/// them in order. At most one checkpoint waits while another is written; save() waits longer rather than keep a third.
/// The error of a write is thrown by the next save(), wait() or close().
///
/// In the scope of a strategy with several processes, a checkpoint with a distribute::ShardedEmbedding is saved by all
/// of them, as Checkpoint says: every process makes a manager of the same folder and calls save(),
/// restore_or_initialize(), wait() and close(). What one of them raises is an error in all. The first process reads and
/// writes the index and removes old files, those with rows, too; after each of these calls all know the checkpoints
/// that it has written. With `.async`, save() writes the rows itself. Other checkpoints are saved by the process that
/// calls save().
///
/// One thread at a time calls save(), restore_or_initialize(), wait() and close(); any thread calls the others.
class TANDEM_API CheckpointManager {
 public:
  ///   throws  errors::InvalidArgumentError for a name that is empty or has a '/', or a negative number;
  ///           errors::DataLossError if the folder has an index that is damaged
  CheckpointManager(Checkpoint checkpoint, std::string directory, CheckpointManagerOptions options = {});
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;
  /// Waits for what is being written; errors are lost (close() throws them).
  ~CheckpointManager();

  /// Saves the values of this moment. Makes the folder.
  ///   returns  the path of the file
  ///   throws   errors::InvalidArgumentError for a negative step, or without the best_metric; as Checkpoint::save;
  ///            with .async the error of an earlier write, and nothing is saved; errors::FailedPreconditionError after
  ///            close()
  std::string save(i64 step, const SaveOptions& options = {});
  /// Restores the latest checkpoint; without one, nothing changes.
  ///   throws  as Checkpoint::restore. If a file is damaged or missing: errors::DataLossError or NotFoundError, naming
  ///           it; with .fall_back only if that is true of all. errors::AbortedError if another process could not
  RestoredCheckpoint restore_or_initialize(const RestoreLatestOptions& options = {});
  /// Waits until everything is written.
  ///   throws  the error of an earlier write
  void wait();
  /// The same, and ends the thread; nothing can be saved afterwards.
  void close();

  /// The paths of the latest checkpoints that are written, oldest first.
  std::vector<std::string> checkpoints() const;
  /// "" if there is none.
  std::string latest_checkpoint() const;
  /// The best one by best_metric, "" if there is none.
  std::string best_checkpoint() const;
  const std::string& directory() const;

 private:
  struct State;
  struct Job;
  std::string path_of(const std::string& file) const;
  void write(const Job& job);
  bool remove(const std::string& file) const;
  void enqueue(std::unique_ptr<Job> job);
  void save_now(std::unique_ptr<Job> job);
  void check_save(i64 step, const SaveOptions& options) const;
  std::unique_ptr<Job> make_job(i64 step, const SaveOptions& options, bool has_shards) const;
  std::string save_of_several(i64 step, const SaveOptions& options);
  std::string try_restore(const std::string& path, const RestoreLatestOptions& options, bool is_last);
  void share_index();
  void wait_here();
  void run();
  void finish() noexcept;
  void throw_error();
  std::unique_ptr<State> state_;
};

/// The path of the latest checkpoint in a folder; "" if there is none.
///   throws  errors::DataLossError if the folder has an index that is damaged
TANDEM_API std::string latest_checkpoint(const std::string& directory, const std::string& checkpoint_name = "ckpt");

}  // namespace TANDEM_NS::train

// The index of a folder of checkpoints: which there are, which is the latest and which the best. For CheckpointManager.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::train {

/// The values by which checkpoints are compared: {"loss", 0.25}.
using Metrics = std::map<std::string, double>;

/// Which of two values of a metric is the better one.
enum class Better : std::uint8_t { lower, higher };

namespace impl {

struct CheckpointRecord {
  std::string file;  // its name in the folder
  i64 step = 0;
  double time = 0;  // when it was saved, in seconds since 1970
  Metrics metrics = {};
};

/// What the file NAME-index.json in the folder says. It is replaced after a checkpoint is complete and before another
/// one is removed, so that all that it lists exists, whenever the process ends.
struct TANDEM_API CheckpointIndex {
  std::vector<CheckpointRecord> active;     // the latest ones, oldest first
  std::vector<CheckpointRecord> preserved;  // kept forever, oldest first
  std::optional<CheckpointRecord> best;     // perhaps one of the others
  double last_preserved = 0;
  std::vector<std::string> removed;  // files that are listed no longer, and may still exist

  /// The names of the files that the lists have.
  std::vector<std::string> files() const;
  /// Adds a checkpoint as the latest; one of the same name, which it has replaced, is no longer listed.
  void add(CheckpointRecord record);
  /// Takes the oldest ones from the list until it has max_to_keep. One that was saved `every` seconds after the last
  /// preserved one is preserved, too; if that one lies in the future, since the clock was set back, the next one is.
  ///   max_to_keep  0: all are kept
  void rotate(int max_to_keep, std::optional<double> every, double now);
  /// Chooses the best one of those that are listed; of equals the earliest. Where none has the metric, as "", the best
  /// one stays: it was so by another metric.
  void choose_best(const std::string& metric, Better better);

  /// Reads the index of a folder. Checkpoints that are there and younger than the latest one that it lists are added:
  /// the process ended before it could.
  ///   throws  errors::DataLossError, naming the file, if it is damaged
  static CheckpointIndex read(const std::string& directory, const std::string& name);
  /// The text of the file, and what it says.
  std::string text() const;
  static CheckpointIndex parse(const std::string& text, const std::string& directory, const std::string& name);
  ///   throws  as io::replace_file
  void write(const std::string& directory, const std::string& name) const;
};

/// The step in the name of a checkpoint's file, NAME-STEP.safetensors or the index of several; -1 for another name.
TANDEM_API i64 step_of_file(const std::string& file, const std::string& name);

/// Removes what killed processes left in a folder: temporary files, and shards that no index lists.
TANDEM_API void remove_unfinished(const std::string& directory, const std::string& name);

}  // namespace impl

}  // namespace TANDEM_NS::train

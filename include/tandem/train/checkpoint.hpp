// Checkpoint: saves the Variables of modules, optimizers and generators by name in one safetensors file.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "tandem/io/safetensors.hpp"
#include "tandem/module/module.hpp"
#include "tandem/train/restore.hpp"

namespace TANDEM_NS::train {

using io::Metadata;

/// A named item of a checkpoint: a Module (such as an Optimizer) or a single Variable. The names in a file begin with
/// that of the item and "/", those of a module without a name with neither.
class CheckpointItem {
 public:
  CheckpointItem(std::string name, const Module& module) : name_(std::move(name)), module_(module), is_module_(true) {}
  CheckpointItem(std::string name, const Variable& variable) : name_(std::move(name)), variable_(variable) {}
  /// The current Variables, each with its full path: "model/hidden/kernel".
  std::vector<Module::Named> variables() const;
  /// What modules have learned besides Variables (module/asset.hpp), with full paths: "model/lookup/vocabulary".
  std::vector<Module::NamedAsset> assets() const;
  const std::string& name() const { return name_; }
  /// What the names of a module's Variables begin with.
  std::string prefix() const { return name_.empty() ? name_ : name_ + "/"; }
  /// Null for a Variable.
  const Module* module() const { return is_module_ ? &module_ : nullptr; }

 private:
  std::string name_;
  Module module_;
  Variable variable_;
  bool is_module_ = false;
};

/// Saves named items to a file and restores them.
///   train::Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}, {"step", step}});
///   checkpoint.save("run.safetensors");
///
/// An optimizer's slots are saved under the paths of their weights, "optimizer/model/hidden/kernel/m", so the order
/// in which weights were first updated does not matter. A slot whose weight is not in the checkpoint is saved under
/// its number in that order, "optimizer/slot_0_m". restore() also accepts this second name, which older files use
/// for all slots.
///
/// What layers have learned by adapt() is saved with the Variables: vocabularies of StringLookup and IntegerLookup,
/// boundaries of Discretization. A layer that was given its vocabulary must find the same one in the file, if there
/// is one. Functions that were traced before a restore are traced again if it changes what they have read. A
/// lookup::MutableHashTable is a module, whose keys are under "NAME/table.keys" and their values under
/// "NAME/table.values". The format has no strings: they are saved as their bytes under the name, uint8, and their
/// lengths under "NAME.lengths", int64.
///
/// In the scope of a strategy with several processes, a checkpoint with a table of which each of them has some rows
/// (distribute::ShardedEmbedding, and the slots of its optimizer) is saved by all: every process must call save(), and
/// writes its rows to a file beside the first one's, "run.shard-00001-of-00002-ID.safetensors" for "run.safetensors".
/// Any number of processes restores it, or a whole table that one process has saved: each one takes its own rows. All
/// must be able to read all files, and have the Variables by then: build the model and the optimizer first.
class TANDEM_API Checkpoint {
 public:
  Checkpoint(std::initializer_list<CheckpointItem> items) : items_(items) {}
  explicit Checkpoint(std::vector<CheckpointItem> items) : items_(std::move(items)) {}

  /// Saves all values. The file is replaced atomically: on failure it is left unchanged.
  ///   throws  errors::FailedPreconditionError for a module without Variables or anything learned (layers create
  ///           Variables at the first call); errors as io::save_safetensors; errors::AbortedError if another process
  ///           could not save its rows
  void save(const std::string& path, const Metadata& metadata = {}) const;
  /// What save() writes: all values of this moment, which do not change with the Variables.
  ///   throws  errors::FailedPreconditionError as save()
  std::vector<io::NamedTensor> values() const;
  /// Sets all Variables and what layers have learned to the values in the file, or nothing at all. Values for Variables
  /// that layers and optimizers have not created yet are kept for them: restore() may precede the first call of the
  /// model.
  ///   path     of a file, or of the index of several (io/safetensors_shards.hpp)
  ///   returns  what was restored, and what the options let pass
  ///   throws   errors::InvalidArgumentError naming each Variable that is missing from the file (unless
  ///            `.allow_missing`) or has a different shape or dtype there (unless `.allow_mismatched`), each vocabulary
  ///            that is missing or does not fit its layer, each tensor that only the file has (unless `.partial`), and
  ///            for a `.map` that does not fit; errors as io::load_safetensors; errors::DataLossError if files with
  ///            rows are missing or damaged
  RestoreReport restore(const std::string& path, const RestoreOptions& options = {}) const;
  /// Sets all Variables and what layers have learned to values(), of this or an equal checkpoint in this process, or
  /// nothing at all.
  ///   throws   as restore()
  RestoreReport restore_values(const std::vector<io::NamedTensor>& values, const RestoreOptions& options = {}) const;
  /// The Variables of which this process has some of the rows (VariableOptions::whole_rows), slots included, under
  /// their names in a file.
  std::vector<Module::Named> sharded() const;
  /// The same checkpoint without these.
  Checkpoint without_sharded() const;

 private:
  struct Entry {
    std::string path, old_path;  // old_path: differs from path only for a slot
    Variable variable;
  };
  struct Changes;
  std::map<std::string, Tensor> read(const std::string& path, const RestoreOptions& options) const;
  RestoreReport restore_file(const std::string& path, const RestoreOptions& options) const;
  RestoreReport set(const std::string& path, TensorMap values, const RestoreOptions& options) const;
  static Tensor own_rows(const Variable& variable, const Tensor& value);
  void take_own_rows(TensorMap& values) const;
  std::vector<Entry> entries() const;
  std::vector<Module::NamedAsset> assets() const;
  std::vector<CheckpointItem> items_;
  bool skips_sharded_ = false;
};

/// Saves the Variables of a module and what its layers have learned, under their paths in it: "hidden/kernel". As a
/// Checkpoint, a module with a distribute::ShardedEmbedding is saved by all processes of a strategy, others by the
/// process that calls this.
///   throws    as Checkpoint::save
TANDEM_API void save_weights(const Module& module, const std::string& path);
/// Sets them to those of a file, before or after the module's first call; tables of which each process has some rows
/// must have their Variables then: call the module first.
///   returns   and throws as Checkpoint::restore
TANDEM_API RestoreReport load_weights(const Module& module, const std::string& path,
                                      const RestoreOptions& options = {});
/// Reads the metadata that was passed to save().
TANDEM_API Metadata read_metadata(const std::string& path);

}  // namespace TANDEM_NS::train

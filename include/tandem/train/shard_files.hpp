// ShardFiles: Variables of which every process has some rows (VariableOptions::whole_rows), in files beside a
// checkpoint that the processes write together. Behind trainer.hpp. Not here: everything else that a checkpoint has
// (checkpoint.hpp).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/train/checkpoint.hpp"

namespace TANDEM_NS::train::detail {

/// Which files belong to a checkpoint: as many as there were processes, all with the same id. None: 0 files.
struct ShardSet {
  i64 files = 0, id = 0;
  std::string text() const { return std::to_string(files) + " " + std::to_string(id); }
  ///   throws  errors::DataLossError for what text() does not write
  TANDEM_API static ShardSet parse(const std::string& text);
};

/// Process r of p writes the rows r, r + p, ... to ckpt-7.shard-0000r-of-0000p-ID.safetensors, before the checkpoint
/// ckpt-7.safetensors is complete. A step that is saved again has another id: until its checkpoint is complete the
/// former one has its files. Any number of processes can read them.
class TANDEM_API ShardFiles {
 public:
  ShardFiles(const Checkpoint& checkpoint, i64 rank, i64 ranks);
  ShardFiles(const std::vector<CheckpointItem>& items, i64 rank, i64 ranks)
      : ShardFiles(Checkpoint(items), rank, ranks) {}
  bool empty() const { return variables_.empty(); }
  /// Writes this process's file.
  ///   checkpoint  the path of the checkpoint
  ///   throws      errors::FailedPreconditionError if a Variable does not have the rows of this process; as
  ///               io::save_safetensors
  void write(const std::string& checkpoint, const ShardSet& set) const;
  using Values = std::vector<std::pair<Variable, Tensor>>;
  /// This process's rows of the Variables. With as many processes as have saved, it reads its own file alone, so that
  /// these may lie on several machines; otherwise all of them, mapped: rows of others take no memory.
  ///   partial  the files may have tensors that are not read
  ///   throws   errors::DataLossError if files are missing, damaged or of another checkpoint;
  ///            errors::InvalidArgumentError if a Variable is missing or has other columns or rows in all, or if only
  ///            the files have a tensor
  Values read(const std::string& checkpoint, const ShardSet& set, bool partial) const;
  /// Sets the Variables to what read() has returned.
  static void set(const Values& values);
  /// Removes the files of former saves to the same path.
  static void remove_others(const std::string& checkpoint, const ShardSet& set);
  /// Removes the files of checkpoints before a step.
  ///   name  of the checkpoints: "ckpt"
  ///   kept  the names of the files of checkpoints that are not removed
  static void remove_before(const std::string& directory, i64 step, const std::string& name = "ckpt",
                            const std::vector<std::string>& kept = {});

 private:
  Tensor value_of(const Module::Named& v, const std::vector<io::Safetensors>& files) const;
  void check_all_wanted(const std::string& checkpoint, const io::Safetensors& file) const;
  void check_rows(const char* op, const Module::Named& v) const;
  const std::vector<Module::Named> variables_;
  const i64 rank_, ranks_;
};

}  // namespace TANDEM_NS::train::detail

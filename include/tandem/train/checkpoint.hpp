// Checkpoint: saves the Variables of modules, optimizers and generators by name in one safetensors file.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "tandem/core/module.hpp"
#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::train {

using io::Metadata;

/// A named item of a checkpoint: a Module (such as an Optimizer) or a single Variable.
class CheckpointItem {
 public:
  CheckpointItem(std::string name, const Module& module) : name_(std::move(name)), module_(module), is_module_(true) {}
  CheckpointItem(std::string name, const Variable& variable) : name_(std::move(name)), variable_(variable) {}
  /// The current Variables, each with its full path: "model/hidden/kernel".
  std::vector<Module::Named> variables() const;
  const std::string& name() const { return name_; }
  /// Null for a Variable.
  const Module* module() const { return is_module_ ? &module_ : nullptr; }

 private:
  std::string name_;
  Module module_;
  Variable variable_;
  bool is_module_ = false;
};

struct RestoreOptions {
  bool partial = false;  ///< allow the file to contain tensors that are not restored
};

/// Saves named items to a file and restores them.
///   train::Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}, {"step", step}});
///   checkpoint.save("run.safetensors");
///
/// An optimizer's slots are saved under the paths of their weights, "optimizer/model/hidden/kernel/m", so the order
/// in which weights were first updated does not matter. A slot whose weight is not in the checkpoint is saved under
/// its number in that order, "optimizer/slot_0_m". restore() also accepts this second name, which older files use
/// for all slots.
class TANDEM_API Checkpoint {
 public:
  Checkpoint(std::initializer_list<CheckpointItem> items) : items_(items) {}

  /// Saves all values. The file is replaced atomically: on failure it is left unchanged.
  ///   throws  errors::FailedPreconditionError for a module without Variables (layers create theirs at the first
  ///           call); errors as io::save_safetensors
  void save(const std::string& path, const Metadata& metadata = {}) const;
  /// Sets all Variables to the values in the file, or none of them. Values for Variables that layers and optimizers
  /// have not created yet are kept for them: restore() may precede the first call of the model.
  ///   throws  errors::InvalidArgumentError naming each Variable that is missing from the file or has a different
  ///           shape or dtype there and, unless `.partial`, each tensor that only the file has; errors as
  ///           io::load_safetensors
  void restore(const std::string& path, RestoreOptions options = {}) const;

 private:
  struct Entry {
    std::string path, old_path;  // old_path: differs from path only for a slot
    Variable variable;
  };
  std::vector<Entry> entries() const;
  std::vector<CheckpointItem> items_;
};

/// Reads the metadata that was passed to save().
TANDEM_API Metadata read_metadata(const std::string& path);

}  // namespace TANDEM_NS::train

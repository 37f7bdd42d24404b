// Checkpoint: the Variables of modules, optimizers and generators under their names in one safetensors file.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "tandem/core/module.hpp"
#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::train {

using io::Metadata;

/// A name and what it stands for: a Module (an Optimizer is one) or a single Variable.
class CheckpointItem {
 public:
  CheckpointItem(std::string name, const Module& module) : name_(std::move(name)), module_(module), is_module_(true) {}
  CheckpointItem(std::string name, const Variable& variable) : name_(std::move(name)), variable_(variable) {}
  /// The Variables now, each under its full path: "model/hidden/kernel".
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
  bool partial = false;  ///< the file may hold more than is asked for
};

///   train::Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}, {"step", step}});
///   checkpoint.save("run.safetensors");
///
/// An optimizer's slots are saved under the paths of their weights, "optimizer/model/hidden/kernel/m", so that the
/// order in which weights were first updated does not matter; a slot whose weight is not in the checkpoint by its
/// number in that order, "optimizer/slot_0_m". restore() takes this second name, too, which older files have for all
/// slots.
class TANDEM_API Checkpoint {
 public:
  Checkpoint(std::initializer_list<CheckpointItem> items) : items_(items) {}

  /// Writes all values. The file is replaced as a whole or left as it was.
  ///   throws  errors::FailedPreconditionError for a module without Variables (layers make theirs at the first call);
  ///           errors as io::save_safetensors
  void save(const std::string& path, const Metadata& metadata = {}) const;
  /// Sets all Variables to the file's values, or none of them. Values of Variables that layers and optimizers have yet
  /// to make are kept for them: restore() may come before the model's first call.
  ///   throws  errors::InvalidArgumentError naming each Variable that is missing from the file or has another shape or
  ///           dtype there, and, unless `.partial`, what the file holds beyond; errors as io::load_safetensors
  void restore(const std::string& path, RestoreOptions options = {}) const;

 private:
  struct Entry {
    std::string path, old_path;  // old_path: the same unless it is a slot's
    Variable variable;
  };
  std::vector<Entry> entries() const;
  std::vector<CheckpointItem> items_;
};

/// What save() was given beside the values.
TANDEM_API Metadata read_metadata(const std::string& path);

}  // namespace TANDEM_NS::train
